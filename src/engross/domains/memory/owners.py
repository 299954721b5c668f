"""Whose memory it is."""

from __future__ import annotations

from engross.calls import Context


def owner_of(context: Context) -> str:
    """The user whom the credential stands for. An agent works in the memory of the person who sent it."""
    return context.principal.stands_for
