"""Python: the office as a library, and as a service."""

from .client import Client
from .connect import connect
from .embedded import EmbeddedPort
from .options import Options
from .outline import Outline, outlines_of
from .port import Port

__all__ = ["Client", "EmbeddedPort", "Options", "Outline", "Port", "connect", "outlines_of"]
