"""Pages for people, with everything they need in them; among them what the codes mean."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import Any

from engross.replies import REGISTRY, Entry
from engross.replies.entry import TYPES

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; }
code, pre { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre code { font-size: 1em; }
pre { overflow-x: auto; padding: 0.6rem; background: var(--soft); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem 0.8rem; margin: 0.4rem 0; }
summary { cursor: pointer; }
h3 { font-size: 1em; margin: 1.2rem 0 0.4rem; }
td:first-child { width: 4rem; } .fields td:first-child { width: 30%; }
@media (max-width: 40rem) {
  .fields tr { display: block; border-bottom: 1px solid var(--line); padding: 0.4rem 0; }
  .fields td, .fields td:first-child { display: block; width: auto; border: 0; padding: 0; }
}
.method { font-weight: bold; } .quiet { opacity: 0.75; } .gone { text-decoration: line-through; }
"""
_STYLE_DIGEST = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_DIGEST}';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a browser may load for these pages: nothing but the style that is in them."""


def page(title: str, *parts: str) -> bytes:
    """A whole page."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join((f"<h1>{escape(title)}</h1>", *parts))
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{body}</body></html>'.encode()
    )


def prose(text: str) -> str:
    """A text as HTML for a paragraph: what stands between backticks as code, and its own paragraphs apart."""
    return "</p><p>".join(_paragraphs(text))


def cell(text: str) -> str:
    """The same for a cell of a table."""
    return "<br>".join(_paragraphs(text))


def code(text: str) -> str:
    """A text as it is, as code."""
    return f"<code>{escape(text)}</code>"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        pieces = paragraph.split("`")
        if len(pieces) % 2 == 0:
            pieces[-2:] = ["`".join(pieces[-2:])]
        yield "".join(code(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces))


def problem_page(entry: Entry) -> bytes:
    """What one code means, and what to do about it."""
    told = {
        "Type": f"{entry.type}: {TYPES[entry.type]}",
        "Name": entry.key,
        "HTTP status": str(entry.http),
        "Message": entry.template,
        "Values in the message": ", ".join(f"{name} ({kind})" for name, kind in entry.params.items()) or "none",
        "May a program try again?": "yes, with the same key" if entry.retryable else "not by itself",
        "Since": entry.since,
        "Status": entry.status + (f", replaced by {entry.replaced_by}" if entry.replaced_by else ""),
    }
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in told.items())
    return page(
        f"{entry.code}: {entry.title}",
        f"<p>{escape(entry.advice)}</p>",
        f"<table>{rows}</table>",
        '<p><a href="../problems">All codes</a></p>',
    )


def problems_page() -> bytes:
    """All codes."""
    rows = "".join(
        f'<tr><td><a href="problems/{entry.code}">{entry.code}</a></td><td>{escape(entry.key)}</td>'
        f"<td>{entry.http}</td><td>{escape(entry.title)}</td></tr>"
        for entry in REGISTRY
    )
    return page("Codes", f"<table><tr><th>Code</th><th>Name</th><th>HTTP</th><th>Meaning</th></tr>{rows}</table>")


def problem_data(entry: Entry) -> dict[str, Any]:
    """What one code means, as data."""
    names = ("code", "key", "title", "type", "layer", "area", "http", "params", "retryable", "advice", "template")
    told = {name: getattr(entry, name) for name in (*names, "since", "status", "replaced_by")}
    return {"message_key" if name == "key" else name: value for name, value in told.items()}
