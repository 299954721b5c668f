"""Stage 2, check: does the call have the shape that the flow takes? All that is wrong is said at once."""

from __future__ import annotations

from engross.calls import Context, Plan
from engross.flows import Checked, Flow
from engross.ledger import Unit
from engross.replies import Invalid, codes

from .fittings import Fittings


def check(flow: Flow, arguments: object) -> Checked:
    """The arguments after normalising and defaults, and the control fields apart from them."""
    return flow.check(arguments)


def too_large_to_review(plan: Plan) -> Invalid:
    """Nobody can be asked to approve what nobody can look through."""
    return Invalid(
        codes.LIMIT_EXCEEDED,
        {"what": "The number of facts in a proposal", "limit": Unit.most_held},
        details={"limit": Unit.most_held, "actual": plan.size},
        suggestions={"hint": "Propose it in smaller parts, or ask a curator to commit it."},
    )


def require_key(fittings: Fittings, context: Context) -> None:
    """Where the knob says so, an agent's or a service's write must carry a client request id."""
    if context.client_request_id is not None or context.dry_run or context.principal.type == "human":
        return
    if fittings.knobs.for_(context.tenant, context.pins.get("model_id")).require_client_request_id:
        raise Invalid(
            codes.IDEMPOTENCY_KEY_REQUIRED,
            field="client_request_id",
            suggestions={
                "format": "8 to 255 characters of A-Z a-z 0-9 . _ : -",
                "hint": "Make a UUID once per change.",
            },
        )
