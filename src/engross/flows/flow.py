"""A flow: one thing that a caller can do, as data, with the code that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any, TypeVar

from engross.replies import Invalid, Issue

from .admissible import admissible
from .checked import CallWarning, Checked, Normaliser
from .checker import Checker
from .consistency import Consistency
from .controls import CONTROLS, NO_CONTROLS, Controls, control_checker, controls_from, split
from .defaults import Defaults
from .definition import FlowDefinitionError
from .determinism import Determinism
from .example import Example, refers, succeeds
from .facets import Dialect, Effect, HintStyle, Kind, Posture
from .fault import MOST_SHOWN, Fault, is_unknown
from .limits import LIMITS, Limits
from .misshapen import Misshapen, Remainder, remainder
from .names import title
from .output import output_of
from .rules import verify
from .schemas import Schema, Shape, schema_of, without_null
from .semantics import Semantics, hints
from .signature import Handler

if TYPE_CHECKING:
    from .aggregate import Aggregate

EXPECTED_VERSION = "expected_version"
"""What the argument is usually called that says on which state of an object a call builds."""
LONGEST_SAMPLE = 200
"""In characters: longer values of examples are not shown in refusals."""

Function = TypeVar("Function", bound=Handler)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Flow:
    """Data first: what it is called, takes, gives and promises. Made by the decorators of an aggregate."""

    aggregate: Aggregate
    name: str
    kind: Kind
    handler: Handler
    description: str
    arguments: Shape
    answers: Shape | None
    semantics: Semantics
    effect: Effect | None
    tier: int
    dialect: Dialect
    controls: tuple[str, ...]
    version: str = "1.0.0"
    widened: Mapping[str, Any] | None = None
    normaliser: Normaliser | None = None
    preparer: Handler | None = None
    examiner: Handler | None = None
    suggester: Handler | None = None
    suggests_alone: bool = False
    suggests_inline: bool = False
    concluder: Handler | None = None
    risk: Callable[..., int] | None = None
    posture: Posture = "proposal"
    people_only: bool = False
    owner_field: str | None = None
    state_at: str | None = None
    expects: str | None = None
    examples: tuple[Example, ...] = ()
    consistency: Consistency = field(default_factory=Consistency)
    determinism: Determinism = field(default_factory=Determinism)
    refuses: tuple[str, ...] = ()
    limits: Limits = LIMITS
    rate: str | None = None
    timeout_seconds: float = 30.0
    bulk: bool = False
    deprecated_since: str | None = None
    hint_style: HintStyle = "complete"
    exposed: bool = True
    inline: bool = False
    content: bool = False
    rehearses: bool = False

    def __post_init__(self) -> None:
        verify(self)
        if self.expects is None and EXPECTED_VERSION in self.own_fields:
            object.__setattr__(self, "expects", EXPECTED_VERSION)

    def __repr__(self) -> str:
        return f"<Flow {self.ref} {self.version}>"

    def __call__(self, *arguments: object) -> object:
        """Run the handler alone, without the path that a call takes: for tests of the handler."""
        return self.handler(*arguments)

    @cached_property
    def ref(self) -> str:
        """The name everywhere inside: `cards.create-card`."""
        return f"{self.aggregate.namespace}.{self.name}"

    @property
    def title(self) -> str:
        """A heading for people."""
        return title(self.name)

    @property
    def writes(self) -> bool:
        """Does it change anything, here or elsewhere?"""
        return self.kind != "read"

    @cached_property
    def makes_calls(self) -> bool:
        """Is the handler a generator, which makes calls of its own and holds no reader meanwhile?"""
        return isgeneratorfunction(self.handler)

    @cached_property
    def own_fields(self) -> tuple[str, ...]:
        """The names of the flow's own arguments, known without making a schema."""
        if isinstance(self.arguments, Mapping):
            return tuple(self.arguments.get("properties", ()))
        return tuple(getattr(self.arguments, "__annotations__", ()))

    @cached_property
    def published(self) -> Schema:
        """The input schema that clients see: portable, with the control fields."""
        own = without_null(schema_of(self.arguments, self.ref))
        fields = {**own.get("properties", {}), **{name: dict(CONTROLS[name]) for name in self._offered}}
        return {**own, "properties": fields}

    @cached_property
    def enforced(self) -> Schema:
        """What arguments are held to, after the control fields were taken out and the normaliser ran."""
        return schema_of(self.arguments if self.widened is None else self.widened, self.ref)

    @cached_property
    def output(self) -> Schema:
        """The schema of answers: requires `reply`, leaves the rest open."""
        return output_of(self.answers, self.ref)

    @cached_property
    def checker(self) -> Checker:
        """Holds arguments to `enforced`."""
        known = frozenset(self.enforced.get("properties", ()))
        return Checker(
            self.enforced,
            also_allowed=self._offered,
            unlisted=known.difference(self.own_fields),
            samples=self._samples,
            subject=self.ref,
        )

    def hints(self, overrides: Mapping[str, bool | None] | None = None) -> dict[str, bool]:
        """The MCP hints, all four of them: what clients assume for a missing one is the worst."""
        derived = hints(None if self.hint_style == "said" else self.semantics, overrides)
        if self.hint_style != "complete":
            return derived
        usual = {
            "readOnly": False,
            "destructive": self.effect != "create",
            "idempotent": False,
            "openWorld": self.kind == "reach",
        }
        return {**usual, **derived}

    def state_in(self, answer: Mapping[str, Any]) -> int | str | None:
        """The state in which an answer shows the flow's one object, if it shows one."""
        if self.state_at is None:
            return None
        found: Any = answer
        for step in self.state_at.split("."):
            found = found.get(step) if isinstance(found, dict) else None
        return found if type(found) in (int, str) else None

    def check(self, raw: object) -> Checked:
        """Arguments ready to work with, or `Misshapen` with everything that is wrong with them."""
        issues = admissible(raw, self.limits)
        if issues:
            raise self._inadmissible(raw, issues)
        if not isinstance(raw, dict):
            raise Misshapen.many(self.checker.check(raw))
        arguments, given = split(raw, self._offered)
        warnings: tuple[CallWarning, ...] = ()
        if self.normaliser is not None:
            try:
                arguments, noticed = self.normaliser(arguments)
            except Invalid as refusal:
                raise self._turned_away(refusal, given) from refusal.__cause__
            warnings = tuple(noticed)
        if not self.checker.accepts(arguments) or (given and not control_checker().accepts(given)):
            raise self._invalid(arguments, given)
        controls = controls_from(given) if given else NO_CONTROLS
        return Checked(self._defaults.complete(arguments), controls, warnings)

    def prepare(self, function: Function) -> Function:
        """Decorator: `(reader, arguments)`, runs off the writer; gives what the handler then gets.

        That of a read is `(aside, arguments)`: it may ask other systems, and holds no reader meanwhile.
        """
        return self._attached("preparer", function)

    def examine(self, function: Function) -> Function:
        """Decorator: `(unit, arguments, told)`, runs when a call does not have the shape; gives what else is wrong.

        The arguments are those that fit. What is missing among them, and the fields in `told`, were refused already.
        """
        return self._attached("examiner", function)

    def suggest(self, function: Function, *, alone: bool = False, inline: bool = False) -> Function:
        """Decorator: `(reader, answer)`, runs after the write; gives next steps.

        `alone`: it is `(answer)`, and looks at nothing else, which costs much less than a reader. `inline`: it looks
        by primary key, as an inline read does, and is brief enough to run on an event loop's own thread.
        """
        if alone and inline:
            raise FlowDefinitionError(self.ref, "A suggester that looks at nothing has nothing to look at in place.")
        object.__setattr__(self, "suggests_alone", alone)
        object.__setattr__(self, "suggests_inline", inline)
        return self._attached("suggester", function)

    def conclude(self, function: Function) -> Function:
        """Decorator: `(reader, answer)`, runs when files that a commit promised are not there, or not yet.

        What became of each is in the answer's `published`. Gives what the answer says besides, or raises the refusal
        that it comes to.
        """
        return self._attached("concluder", function)

    def normalise(self, function: Function) -> Function:
        """Decorator: `arguments -> (arguments, warnings)`. Runs before the check, on JSON of any shape."""
        return self._attached("normaliser", function)

    def assess(self, function: Function) -> Function:
        """Decorator: `(arguments, facts) -> tier`, for a risk that depends on what would change."""
        return self._attached("risk", function)

    def seal(self) -> None:
        """End the definition: a flow in a catalogue no longer changes."""
        self.__dict__["_sealed"] = True

    @cached_property
    def _samples(self) -> Mapping[str, Any]:
        """Of each field, what the first example that succeeds gives for it, if that is short."""
        known: dict[str, Any] = {}
        for example in filter(succeeds, self.examples):
            for name, value in example.arguments.items():
                if not refers(value) and len(str(value)) <= LONGEST_SAMPLE:
                    known.setdefault(name, value)
        return known

    @cached_property
    def _offered(self) -> tuple[str, ...]:
        return tuple(name for name in self.controls if name not in self.own_fields)

    @cached_property
    def _defaults(self) -> Defaults:
        return Defaults(self.enforced)

    def _inadmissible(self, raw: object, issues: list[Issue]) -> Misshapen:
        refused = Misshapen.many(issues)
        if isinstance(raw, dict):
            refused.controls = controls_from(_reason_in(split(raw, self._offered)[1]))
        return refused

    def _turned_away(self, refusal: Invalid, given: Mapping[str, Any]) -> Misshapen:
        """What the normaliser says is wrong is wrong about the shape."""
        refused = Misshapen(refusal.code, refusal.params, issues=refusal.issues, data=refusal.data)
        refused.controls = _fitting(given)
        return refused

    def _invalid(self, arguments: dict[str, Any], given: Mapping[str, Any]) -> Misshapen:
        faults: list[tuple[Checker, Fault, Mapping[str, Any]]] = []
        in_all = 0
        for checker, values in ((self.checker, arguments), (control_checker(), given)):
            found, count = checker.examine(values)
            faults += [(checker, fault, values) for fault in found]
            in_all += count
        # Fields that are not in the schema come last, after the control fields.
        faults.sort(key=lambda found: is_unknown(found[1]) and len(found[1].path) == 1)
        issues = [checker.issue(fault, values) for checker, fault, values in faults[:MOST_SHOWN]]
        refused = Misshapen.many(issues, data={"errors_in_all": in_all} if in_all > MOST_SHOWN else None)
        refused.controls = _fitting(given)
        if self.examiner is not None:
            refused.rest = self._remainder(arguments, refused.controls)
        return refused

    def _remainder(self, arguments: dict[str, Any], controls: Controls) -> Remainder | None:
        """What can still be looked at; None where it cannot be told from what is wrong."""
        wrong = [fault.path for fault in self.checker.faults(arguments)]
        left, places = remainder(arguments, wrong)
        if any(fault.keyword != "required" for fault in self.checker.faults(left)):
            return None
        told = frozenset(str(path[0]) for path in wrong if path)
        return Remainder(Checked(self._defaults.complete(left), controls), told, places)

    def _attached(self, part: str, function: Function) -> Function:
        if self.__dict__.get("_sealed"):
            raise FlowDefinitionError(self.ref, f"It is in use already: attach the {part} before the office opens.")
        if getattr(self, part) is not None:
            raise FlowDefinitionError(self.ref, f"It has a {part} already: drop one of the two.")
        object.__setattr__(self, part, function)
        return function


def _fitting(given: Mapping[str, Any]) -> Controls:
    """The controls that fit, and the reason in any case."""
    steering, _ = remainder(given, [fault.path for fault in control_checker().faults(given)])
    return controls_from({**steering, **_reason_in(given)})


def _reason_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """The reason, fit or not: whoever gave one is not asked for one."""
    return {"reason": given["reason"]} if "reason" in given else {}
