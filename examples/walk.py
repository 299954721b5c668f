"""`make run`: the main job from start to end, on a folder of its own, and what to try next while it is served."""

import argparse
import errno
import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel

from engross import connect
from engross.calls import Principal
from engross.replies import Reply

HERE = Path(__file__).parent
FOLDER = HERE.parent / "engross-data"
NEXT = (
    ("every flow is a command", ".venv/bin/engross shelf list-books"),
    ("what waits for a decision", ".venv/bin/engross proposals list"),
    ("decide about it", ".venv/bin/engross proposals approve {waiting}"),
    ("a domain that is there already", ".venv/bin/engross architecture create-element --type Capability --name Sales"),
    ("how it came to be", ".venv/bin/engross why Sales"),
    ("an API as governed tools, by a YAML file", ".venv/bin/engross flow test examples/forecast.yaml"),
    (
        "every flow is an address",
        "curl -s http://127.0.0.1:{port}/v1/shelf/list-books"
        ' -H "Authorization: Bearer $(cat engross-data/tokens/owner.token)"',
    ),
    (
        "an MCP client that starts the office itself",
        'claude mcp add engross -- "$PWD/.venv/bin/engross" mcp --data "$PWD/engross-data"',
    ),
    ("who may come in over the network", ".venv/bin/engross token list"),
    ("check every receipt, fact and seal", ".venv/bin/engross verify"),
    ("back it up, while in use", ".venv/bin/engross backup shelf.backup"),
    ("the smallest flow; 02 to 04 grow from it", ".venv/bin/python examples/01-a-flow.py"),
    ("everything else", "docs/index.md"),
)
BOOKS = "Emma, Jane Austen\nMiddlemarch, George Eliot\nThe Dispossessed, Ursula K. Le Guin\n"
console = Console(highlight=False, soft_wrap=True)


def said(what: str, reply: Reply, *, show: str | None = None) -> Any:
    """Print a Reply, and hand its data on."""
    data: Any = reply.data
    colour = {"S": "green", "I": "yellow", "D": "magenta", "E": "red"}[reply.reply_type]
    console.print(
        f"[bold]{what}[/]\n  [{colour}]{reply.reply_type}[/] {reply.code} {reply.message_key}: {reply.message}"
    )
    if show and data.get(show):
        text = data[show] if isinstance(data[show], str) else json.dumps(data[show], indent=2)
        console.print(*(f"    {line}" for line in text.splitlines()), sep="\n", markup=False)
    return data


def main(folder: Path, port: int) -> None:
    """Walk if there is no office yet, and say what to try while it is served at this port; 0 is any."""
    if is_taken(port):
        sys.exit(
            f"Another program listens at port {port}, perhaps this office. Name another: PORT={free_port()} make run"
        )
    waiting = "ID"
    if (folder / "office.db").exists():
        console.print(f"The office in {folder} is there already and stays as it is. Remove the folder to walk again.")
    else:
        waiting = walk(folder)
    console.print("\n[bold]What to try next, in another shell in this folder[/]")
    width = max(len(what) for what, _ in NEXT)
    for what, command in NEXT:
        console.print(f"  {what:{width}}  {command.format(waiting=waiting, port=port or 'PORT')}", markup=False)


def is_taken(port: int) -> bool:
    """Whether somebody listens there already. Whatever else is wrong with a port, the server says."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except (OSError, OverflowError) as refusal:
        return isinstance(refusal, OSError) and refusal.errno == errno.EADDRINUSE
    return False


def free_port() -> int:
    """A port at which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def walk(folder: Path) -> str:
    """Walk through it, in a folder of its own, and leave something to try there: a proposal that waits."""
    if folder.exists():
        sys.exit(f"{folder} is there already, and is no office: name another folder.")
    # Whoever opens the folder, as a library, by command or as a server, finds the domain there.
    for part in (folder, folder / "capabilities"):
        part.mkdir(mode=0o700)
    shutil.copy(HERE / "04-the-whole.py", folder / "capabilities" / "shelf.py")
    curator = Principal("clara", "human", frozenset({"curator"}))
    with connect(folder, principal=curator) as clara:
        scout = clara.as_("scout", "agent", ["agent"])
        console.print(Panel("An agent drafts, a person decides, and the record can be proven.", expand=False))

        said("The agent misspells a field.", scout.shelf.add_book(titel="Dune"), show="errors")
        said("It tries out what it means.", scout.record.validate_write(operation="addBook", payload={"title": "Dune"}))
        added = said(
            "It writes; for an agent that is a proposal.",
            scout.shelf.add_book(title="Dune", author="Frank Herbert", client_request_id="walk-0001"),
            show="diff_text",
        )
        again = scout.shelf.add_book(title="Dune", author="Frank Herbert", client_request_id="walk-0001")
        said(f"It lost the answer and asks again: replay {again.data['idempotent_replay']}.", again)
        proposal = added["proposal"]["id"]
        grown = scout.shelf.change_book(id=added["book"]["id"], notes="Read twice.", proposal_id=proposal)
        said("It adds to its proposal, by the id that was reserved.", grown, show="diff_text")

        shown = said("Clara, a curator, looks at it.", clara.proposals.get_proposal(proposal_id=proposal))
        approved = clara.proposals.review_proposal(
            proposal_id=proposal, decision="approve", approval_token=shown["approval_token"]
        )
        done = said("She approves exactly what she was shown.", approved)
        refused = clara.shelf.remove_book(id=added["book"]["id"])
        token = said("She wants to remove the book; that has to be confirmed.", refused, show="diff_text")[
            "confirm_token"
        ]
        removed = clara.shelf.remove_book(id=added["book"]["id"], confirm_token=token)
        gone = said("She confirms exactly that.", removed)
        before = clara.shelf.get_book(id=added["book"]["id"], as_of=gone["position"] - 1)
        said("What was there before?", before, show="book")

        receipt = clara.record.get_receipt(position=done["position"])
        said("Who did what, approved by whom?", receipt, show="receipt")
        facts = clara.record.read_facts()
        said("What happened?", facts)
        for fact in facts.data["facts"]:
            console.print(f"    {fact['position']}.{fact['ordinal']} {fact['type']} {fact['subject']}", markup=False)
        said("She puts some more books on the shelf.", clara.shelf.import_books(text=BOOKS))
        waiting = scout.shelf.add_book(title="Piranesi", author="Susanna Clarke").data["proposal"]["id"]
        rebuilt = clara.office.rebuild(clara.tenant)
        console.print(
            f"[bold]Is the state what the facts say?[/]\n  {rebuilt.facts} facts applied again: same {rebuilt.same}"
        )
        return str(waiting)


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    given.add_argument("--port", type=int, default=0)
    options = given.parse_args()
    main(options.folder.resolve(), options.port)
