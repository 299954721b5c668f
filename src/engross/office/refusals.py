"""What a caller of a flow has to reckon with besides success."""

from __future__ import annotations

from engross.flows import Flow
from engross.replies import REGISTRY, Entry, codes

CONFIRMED_FROM = 3

_ALWAYS = (codes.VALIDATION_ERROR, codes.UNKNOWN_FIELD, codes.FIELD_NOT_ALLOWED, codes.CALL_DENIED)
_WRITES = (codes.WRITE_DENIED, codes.READ_ONLY, codes.IDEMPOTENCY_KEY_REUSED, codes.REQUEST_IN_PROGRESS)


def refusals_of(flow: Flow) -> list[Entry]:
    """The codes that a flow's examples show, then those that every flow of its kind can answer with."""
    shown = [REGISTRY.by_key(example.reply) for example in flow.examples]
    usual = [*_ALWAYS, *(_WRITES if flow.writes else ())]
    if flow.writes and flow.tier >= CONFIRMED_FROM:
        usual.append(codes.CONFIRMATION_REQUIRED)
    if flow.kind == "reach":
        usual.append(codes.OUTCOME_UNKNOWN)
    found = [*shown, *map(REGISTRY.entry, usual)]
    return list({entry.code: entry for entry in found if entry.type != "S"}.values())
