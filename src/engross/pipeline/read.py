"""A read flow: on a consistent snapshot, as of a position, or inside a draft."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec.structs import replace

from engross.calls import Answer, Context
from engross.flows import Checked, Flow
from engross.ledger import Reader, Unit, settled_position
from engross.replies import Failed, Invalid, Reply, codes, reply
from engross.store import Reading, Transaction

from .aside import Aside
from .draft import see_draft, undecided_proposal
from .fittings import Fittings
from .perform import as_answer
from .steps import Look, Steps, Work, Write, time_left


def read(fittings: Fittings, context: Context, flow: Flow, checked: Checked) -> Steps[Reply]:
    """Walk the rest of the path of a read flow."""
    arguments = checked.arguments
    as_of = checked.controls.as_of
    if context.proposal_id is not None and as_of is not None:
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "a proposal is about the present: give as_of or proposal_id"},
            field="as_of",
        )

    deadline = context.deadline or 0.0
    asked: Any = arguments
    preparer = flow.preparer
    if preparer is not None:
        aside = Aside(fittings, context)
        asked = yield Work(fittings.workers, lambda: preparer(aside, arguments), deadline)

    def on_snapshot(reading: Reading) -> Any:
        if as_of is None:
            return flow.handler(Reader(reading, context), asked)
        position = settled_position(reading, as_of, context.occurred_at)
        if position is None:
            raise _ahead(reading)
        return flow.handler(Reader(reading, replace(context, as_of=position)), asked)

    def in_draft(transaction: Transaction) -> Any:
        unit = Unit(transaction, context, fittings.book)
        see_draft(fittings, unit, undecided_proposal(fittings, unit, context))
        try:
            return flow.handler(unit, asked)
        finally:
            unit.rewind()

    if flow.makes_calls:
        calling: Steps[Any] = flow.handler(context, arguments)  # type: ignore[assignment]
        result = yield from calling
    elif context.proposal_id is not None:
        result = yield Write(fittings.store, context.tenant, in_draft, tentative=True)
    elif flow.inline:
        result = yield Look(fittings.store, context.tenant, on_snapshot, fittings.workers, deadline)
    else:
        result = yield Work(
            fittings.workers,
            lambda: fittings.store.read(context.tenant, on_snapshot, timeout=time_left(context)),
            deadline,
        )
    return _reply(as_answer(flow, result), checked, fittings.most_reply_bytes)


def _ahead(reading: Reading) -> Invalid:
    told = {"problem": "as_of is ahead of the ledger"}
    latest = {"latest": reading.watermark()}
    return Invalid(codes.VALIDATION_ERROR, told, field="as_of", suggestions=latest)


def _reply(answer: Answer, checked: Checked, limit: int) -> Reply:
    warnings = [*checked.warnings, *answer.warnings]
    data = {**answer.data, "warnings": warnings} if warnings else answer.data
    found = reply(answer.code or codes.READ_OK, answer.params, data)
    size = len(orjson.dumps(found.data))
    if size > limit:
        raise Failed(codes.RESPONSE_TOO_LARGE, {"size": size, "limit": limit})
    return found
