"""What a caller of a flow has to reckon with besides success."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engross.flows import Flow
from engross.pipeline.dialects import BY_EFFECT
from engross.replies import REGISTRY, Entry, codes

CONFIRMED_FROM = 3


class Usual(NamedTuple):
    """Codes that every call of some kind may be answered with, whatever it does."""

    name: str
    concerns: Callable[[Flow], bool]
    codes: tuple[str, ...]


USUAL = (
    Usual(
        "Any call",
        lambda flow: True,
        (
            *(codes.MALFORMED_INPUT, codes.VALIDATION_ERROR, codes.UNKNOWN_FIELD, codes.FIELD_NOT_ALLOWED),
            *(codes.LIMIT_EXCEEDED, codes.AUTH_REQUIRED, codes.AUTH_INVALID, codes.CALL_DENIED),
            *(codes.INSUFFICIENT_SCOPE, codes.RATE_LIMIT_EXCEEDED, codes.OFFICE_BUSY, codes.TIMEOUT),
            *(codes.SYS_CRASH, codes.NOT_SERIALIZABLE, codes.RESPONSE_TOO_LARGE, codes.NON_REPLY_RETURN),
            *(codes.POLICY_ERROR, codes.CONFIG_INVALID, codes.STORE_CORRUPT),
        ),
    ),
    Usual(
        "Any write",
        lambda flow: flow.writes,
        (
            *(codes.WRITE_DENIED, codes.READ_ONLY, codes.APPROVAL_REQUIRED, codes.IDEMPOTENCY_KEY_REQUIRED),
            *(codes.IDEMPOTENCY_KEY_REUSED, codes.REQUEST_IN_PROGRESS, codes.PAYLOAD_ERASED, codes.STORE_FULL),
        ),
    ),
    Usual(
        "Inside a proposal",
        lambda flow: "proposal_id" in flow.controls,
        (codes.PROPOSAL_NOT_FOUND, codes.PROPOSAL_STATE, codes.PROPOSAL_STALE),
    ),
    Usual(
        "Where a confirmation is due",
        lambda flow: flow.writes and (flow.tier >= CONFIRMED_FROM or flow.risk is not None),
        (codes.CONFIRMATION_REQUIRED, codes.CONFIRMATION_DECLINED, codes.TOKEN_INVALID, codes.PLAN_DRIFT),
    ),
    Usual("Only for people", lambda flow: flow.people_only, (codes.PEOPLE_ONLY,)),
    Usual("Where a user is named", lambda flow: flow.owner_field is not None, (codes.OTHER_USER,)),
    Usual("Any call of another system", lambda flow: flow.kind == "reach", (codes.OUTCOME_UNKNOWN,)),
)
"""Which codes are no flow's own. A flow says in `refuses` what it answers with besides."""

_TOLD = (
    *(codes.VALIDATION_ERROR, codes.UNKNOWN_FIELD, codes.FIELD_NOT_ALLOWED, codes.CALL_DENIED, codes.WRITE_DENIED),
    *(codes.READ_ONLY, codes.IDEMPOTENCY_KEY_REUSED, codes.REQUEST_IN_PROGRESS, codes.CONFIRMATION_REQUIRED),
    *(codes.PEOPLE_ONLY, codes.OTHER_USER, codes.OUTCOME_UNKNOWN),
)
"""Those among them that a caller can do something about: whoever describes a single flow leaves out the others."""


def own_refusals(flow: Flow) -> list[Entry]:
    """What a flow says that it answers with, and what its examples show; nothing that any call may get."""
    shown = [REGISTRY.by_key(example.reply) for example in flow.examples]
    usual = usual_codes(flow)
    found = [*map(REGISTRY.entry, flow.refuses), *shown]
    return list({entry.code: entry for entry in found if entry.type != "S" and entry.code not in usual}.values())


def usual_codes(flow: Flow) -> tuple[str, ...]:
    """What any flow of its kind may answer with."""
    said = [code for usual in USUAL if usual.concerns(flow) for code in usual.codes]
    return (*said, store_failure(flow))


def store_failure(flow: Flow) -> str:
    """What it is called when the store cannot be reached."""
    return BY_EFFECT[flow.effect] if flow.dialect == "memory" else codes.STORE_UNAVAILABLE


def refusals_of(flow: Flow) -> list[Entry]:
    """The codes of a flow's own, then the usual ones that callers of such a flow should know."""
    usual = usual_codes(flow)
    return [*own_refusals(flow), *(REGISTRY.entry(code) for code in _TOLD if code in usual)]
