"""The door: who is let in, and as whom. Identity comes from the credential alone."""

from .door import Door
from .flows import door_aggregate
from .local import LocalTokens
from .tokens import tokens_aggregate
from .trust import Trust

__all__ = ["Door", "LocalTokens", "Trust", "door_aggregate", "tokens_aggregate"]
