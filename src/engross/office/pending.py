"""What is still proposed: about what is on the record, and what is to be found nowhere but in a proposal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from engross.calls import Context
from engross.pipeline import Fittings, Request, Steps, walk

LIST_PROPOSALS = "proposals.list-proposals"
GET_PROPOSAL = "proposals.get-proposal"
UNDECIDED = ("draft", "proposed", "in_review")
MOST_PROPOSALS = 20
MOST_TARGETS = 50
SHOWN = ("id", "status", "proposed_by", "summary", "reason", "risk_tier", "created_at")
TOLD_OF_SUBJECT = ("type", "name")

Outline = Mapping[str, Any]


def undecided_about(fittings: Fittings, context: Context, targets: Sequence[str]) -> Steps[list[Outline]]:
    """The open proposals that change one of these subjects, each given as `aggregate/subject`."""
    found: dict[str, Outline] = {}
    for target in targets[:MOST_TARGETS]:
        listed = yield from _listed(fittings, context, target=target)
        found |= {one["id"]: _outline(one) for one in listed if one["status"] in UNDECIDED}
    return list(found.values())


def only_proposed(
    fittings: Fittings, context: Context, of: str, namespaces: Collection[str]
) -> Steps[list[dict[str, Any]]]:
    """The subjects of these aggregates that an open proposal would make, and that have this id or this name."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for proposal in (yield from _perhaps_making(fittings, context, of, namespaces)):
        asked = {"proposal_id": proposal["id"]}
        whole = yield from walk(fittings, Request.within(context, GET_PROPOSAL, asked))
        for aggregate, subject, told in _made_by(whole.data["diff"] if whole.ok else ()):
            if aggregate in namespaces and _is_called(of, subject, told):
                entry = {"aggregate": aggregate, "subject": subject, "is_proposed": True, "proposed": told}
                known = found.setdefault((aggregate, subject), {**entry, "reasons": [], "proposals": []})
                known["proposals"].append(_outline(proposal))
    return list(found.values())


def _perhaps_making(fittings: Fittings, context: Context, of: str, namespaces: Collection[str]) -> Steps[list[Outline]]:
    """Those that are about a subject of this id; if there are none, whatever is open, as far as anybody would look."""
    by_id: list[Outline] = []
    for namespace in namespaces:
        by_id += yield from _listed(fittings, context, target=f"{namespace}/{of}")
    if by_id:
        return [one for one in by_id if one["status"] in UNDECIDED]
    found: list[Outline] = []
    for status in UNDECIDED:
        found += yield from _listed(fittings, context, status=status)
    return found


def _listed(fittings: Fittings, context: Context, **asked: Any) -> Steps[list[Outline]]:
    request = Request.within(context, LIST_PROPOSALS, {**asked, "limit": MOST_PROPOSALS})
    listed = yield from walk(fittings, request)
    return list(listed.data["proposals"]) if listed.ok else []


def _made_by(diff: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for entry in diff:
        if entry["change"] == "add":
            fields = entry["fields"]
            told = {name: fields[name]["to"] for name in TOLD_OF_SUBJECT if name in fields}
            yield entry["fact"].partition(".")[0], entry["subject"], told


def _is_called(of: str, subject: str, told: Mapping[str, Any]) -> bool:
    kind, name = str(told.get("type", "")), told.get("name")
    names = (name, f"{kind}/{name}") if isinstance(name, str) else ()
    return of == subject or of.casefold() in (one.casefold() for one in names)


def _outline(proposal: Outline) -> Outline:
    return {name: proposal[name] for name in SHOWN if proposal.get(name) is not None}
