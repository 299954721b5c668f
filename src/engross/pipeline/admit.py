"""Stage 1, admit: who asks, when, in which trace, and which ids the call may use."""

from __future__ import annotations

import re
import time

from engross.calls import Context, new_message_id, present
from engross.flows import Controls, Flow
from engross.replies import Trace

from .fittings import Fittings
from .request import Request

_FIT = re.compile(r"[\x21-\x7e]{1,255}")


def admit(fittings: Fittings, request: Request, flow: Flow, controls: Controls, trace: Trace) -> Context:
    """Build the call's one context. Who asks comes from the credential; the arguments only steer what is asked."""
    proposal_id = controls.proposal_id
    return Context(
        request.tenant,
        request.principal,
        request.flow,
        new_message_id(),
        present(fittings.clock),
        trace,
        trace.trace_id if request.correlation_id is None else _fit(request.correlation_id) or trace.trace_id,
        None if request.causation_id is None else _fit(request.causation_id),
        request.surface,
        time.monotonic() + (_seconds(fittings, flow) if request.timeout is None else request.timeout),
        controls.client_request_id,
        proposal_id,
        # Adding to a proposal asks for one.
        "proposal" if proposal_id else controls.commit_mode,
        controls.confirm_token,
        controls.reason,
        # As of which position is known only to whoever looks at the ledger.
        None,
        request.dry_run,
        request.break_glass,
        request.pins,
        hidden=request.hidden,
    )


def _seconds(fittings: Fittings, flow: Flow) -> float:
    return fittings.bulk_seconds if flow.bulk else min(fittings.call_seconds, flow.timeout_seconds)


def _fit(identifier: object) -> str | None:
    """An id that came with the call, if it is one; as with a trace, what is malformed counts as not given."""
    return identifier if isinstance(identifier, str) and _FIT.fullmatch(identifier) else None
