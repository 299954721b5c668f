"""The command line."""

from typing import TYPE_CHECKING

from engross.later import later

from .entry import main

if TYPE_CHECKING:
    from .commands import app

__all__ = ["app", "main"]

__getattr__ = later(__name__, {"app": f"{__name__}.commands"})
