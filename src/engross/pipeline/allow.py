"""Stage 3, allow: may this principal call this flow at all, and not too often?"""

from __future__ import annotations

from engross.calls import Context
from engross.flows import Flow
from engross.governance import refusal

from .fittings import Fittings


def allow(fittings: Fittings, context: Context, flow: Flow) -> None:
    """Refuse a call that policy does not let this principal make, whatever its arguments."""
    decision = fittings.policy.may_call(context, flow)
    if decision.verdict == "deny":
        raise refusal(decision, flow.ref)
    fittings.limits.take(context, flow)
