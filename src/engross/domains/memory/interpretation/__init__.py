"""Interpreters: what a file says, in claims that can be traced to their place in it, the same each time."""
