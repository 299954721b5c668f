"""A post office: flows that reach another system, which a test plays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Semantics
from engross.pipeline.reach import Reaching


class Letter(TypedDict):
    """A letter to send."""

    to: Annotated[str, Described("Whom it is for.", minLength=1, maxLength=200)]


@dataclass
class OtherSystem:
    """Keeps every call that reached it, and answers as it is told."""

    answer: Callable[[Reaching], Any] = lambda reaching: {"posted": True}
    calls: list[Reaching] = field(default_factory=list)

    def take(self, reaching: Reaching, arguments: Mapping[str, Any]) -> Any:
        """One call."""
        self.calls.append(reaching)
        return self.answer(reaching)


def post(other: OtherSystem, *, timeout_seconds: float = 30.0) -> Aggregate:
    """Flows that send letters: one that must not be repeated, one that may, and one that must be confirmed."""
    aggregate = Aggregate("post", "The post")

    @aggregate.reach(timeout_seconds=timeout_seconds)
    def send_letter(reaching: Reaching, arguments: Letter) -> Mapping[str, Any]:
        """Send a letter. Sending it twice is two letters."""
        return other.take(reaching, arguments)

    @aggregate.reach(semantics=Semantics(idempotent=True), timeout_seconds=timeout_seconds)
    def announce(reaching: Reaching, arguments: Letter) -> Mapping[str, Any]:
        """Put up an announcement. Putting it up twice is putting it up once."""
        return other.take(reaching, arguments)

    @aggregate.reach(tier=3)
    def send_money(reaching: Reaching, arguments: Letter) -> Mapping[str, Any]:
        """Send money."""
        return other.take(reaching, arguments)

    return aggregate
