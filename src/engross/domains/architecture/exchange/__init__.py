"""Model files: the exchange format of the standard, and what Archi writes and reads."""

from .flows import add_exchange_flows

__all__ = ["add_exchange_flows"]
