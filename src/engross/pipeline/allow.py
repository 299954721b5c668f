"""Stage 3, allow: may this principal call this flow at all, and not too often?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Context
from engross.flows import Flow
from engross.governance import refusal
from engross.replies import Denied, codes

from .fittings import Fittings


def allow(fittings: Fittings, context: Context, flow: Flow, is_counted: bool) -> None:
    """Refuse a call that policy does not let this principal make, or that is one too many, whatever its arguments."""
    decision = fittings.policy.may_call(context, flow)
    if decision.verdict == "deny":
        raise refusal(decision, flow.ref)
    if is_counted:
        fittings.limits.take(context, flow)


def own_only(context: Context, flow: Flow, arguments: Mapping[str, Any]) -> None:
    """Refuse a call that names another user than the one the credential stands for."""
    field = flow.owner_field
    named = None if field is None else arguments.get(field)
    if named is not None and named not in (context.principal.id, context.principal.stands_for):
        raise Denied(codes.OTHER_USER, {"field": field})
