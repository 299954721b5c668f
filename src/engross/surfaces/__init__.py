"""How calls get in. A surface turns bytes into a call and a Reply into bytes, and holds no rule."""
