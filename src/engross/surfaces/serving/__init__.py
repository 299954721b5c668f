"""Serving: one process and one port for MCP, REST and what operators look at."""

from .app import App, make_app
from .server import Address, Place, serve
from .wire import Patience

__all__ = ["Address", "App", "Patience", "Place", "make_app", "serve"]
