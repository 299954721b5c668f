"""What becomes of a confirmation that a person was asked for."""

from __future__ import annotations

from engross.replies import Reply, codes, reply


def confirm_token(answer: Reply) -> str | None:
    """The token that would confirm exactly this, if that is what the answer asks for."""
    return str(answer.data["confirm_token"]) if answer.code == codes.CONFIRMATION_REQUIRED else None


def declined(asked: Reply) -> Reply:
    """The answer when the person said no: the same denial, without the token that would undo it."""
    shown = {name: asked.data[name] for name in ("risk_tier", "diff", "diff_text") if name in asked.data}
    refused = reply(codes.CONFIRMATION_DECLINED, data=shown)
    return refused if asked.trace is None else refused.traced(asked.trace, asked.tool, asked.duration_ms)
