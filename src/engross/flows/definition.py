"""What is wrong with a definition, said to the person who wrote it."""

from __future__ import annotations

from collections.abc import Sequence


class FlowDefinitionError(ValueError):
    """A flow, aggregate or catalogue that cannot work. Each complaint says what to do about it."""

    def __init__(self, subject: str, complaints: str | Sequence[str]) -> None:
        self.subject = subject
        self.complaints = (complaints,) if isinstance(complaints, str) else tuple(complaints)
        super().__init__(f"{subject}: {' '.join(self.complaints)}")
