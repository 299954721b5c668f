"""What people and agents do at an office again and again."""

from pathlib import Path
from typing import Any

from engross.replies import Reply
from engross.store import Reading
from engross.surfaces.client import Client


def proposal_of(answer: Reply) -> str:
    """The id of the proposal that a write became."""
    assert answer.message_key == "PROPOSAL_RECORDED", answer
    identifier: str = answer.data["proposal"]["id"]
    return identifier


def show(client: Client, proposal_id: str) -> Any:
    """What getProposal shows."""
    shown = client.proposals.get_proposal(proposal_id=proposal_id)
    assert shown.ok, shown
    return shown.data


def status(client: Client, proposal_id: str) -> str:
    """Where a proposal stands."""
    standing: str = show(client, proposal_id)["proposal"]["status"]
    return standing


def approve(client: Client, proposal_id: str, **more: Any) -> Reply:
    """Look at a proposal, then approve exactly what was shown."""
    token = show(client, proposal_id)["approval_token"]
    return client.proposals.review_proposal(
        **{"proposal_id": proposal_id, "decision": "approve", "approval_token": token, **more}
    )


def reject(client: Client, proposal_id: str, rationale: str = "not now") -> Reply:
    """Turn a proposal down."""
    return client.proposals.review_proposal(proposal_id=proposal_id, decision="reject", rationale=rationale)


def request_changes(client: Client, proposal_id: str, rationale: str = "more notes, please") -> Reply:
    """Hand a proposal back."""
    return client.proposals.review_proposal(proposal_id=proposal_id, decision="request_changes", rationale=rationale)


def titles(client: Client, **arguments: Any) -> list[str]:
    """The titles on the shelf."""
    listed = client.shelf.list_books(**arguments)
    assert listed.ok, listed
    return sorted(book["title"] for book in listed.data["books"])


def settle(client: Client) -> int:
    """Wait until everything that is committed is settled; the last position of the ledger.

    On PostgreSQL a commit is settled once every transaction that began before it has ended, housekeeping's too.
    """

    def look(reading: Reading) -> tuple[int, int]:
        (last,) = reading.rows("SELECT max(position) AS position FROM facts WHERE tenant = :tenant", {})
        return last["position"] or 0, reading.watermark()

    for _ in range(10_000):
        last, settled = client.office.store.read(client.tenant, look)
        if last <= settled:
            return last
    raise AssertionError("something keeps the ledger from settling")


def facts(client: Client, after: int = 0, limit: int = 1000) -> list[Any]:
    """The feed behind a position."""
    settle(client)
    read = client.call("record.read-facts", {"after": after, "limit": limit})
    assert read.ok, read
    return list(read.data["facts"])


def fact_types(client: Client, after: int = 0) -> list[str]:
    """What happened, by its names."""
    return [fact["type"].split(".fact.")[1].removesuffix(".v1") for fact in facts(client, after)]


def receipt(client: Client, position: int) -> Any:
    """The receipt of a commit."""
    found = client.call("record.get-receipt", {"position": position})
    assert found.ok, found
    return found.data["receipt"]


def suggestions(answer: Reply) -> Any:
    """What a refusal suggests."""
    return answer.data["suggestions"]


def policies(folder: Path, knobs: str = "", **files: str) -> Path:
    """A folder of an operator's own: knobs.toml, and policy files by their name without the ending."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "knobs.toml").write_text(knobs)
    for name, text in files.items():
        (folder / f"{name.replace('_', '-')}.cedar").write_text(text)
    return folder
