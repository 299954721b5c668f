"""A write that was overtaken between its two halves."""

from __future__ import annotations

from engross.replies import Invalid


class Overtaken(Invalid):
    """What was prepared no longer fits what is there by now. The call is prepared again, a few times; then refused."""
