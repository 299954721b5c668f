"""Pages for people: what can be called, and what the codes mean. Everything they need is in them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from typing import Any

import orjson

from engross.replies import REGISTRY, Entry
from engross.replies.entry import TYPES

from .openapi import ABOUT

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; }
code, pre { font: 0.9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.6rem; background: var(--soft); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem 0.8rem; margin: 0.4rem 0; }
summary { cursor: pointer; }
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


def docs_page(document: Mapping[str, Any]) -> bytes:
    """Every operation, by tag."""
    by_tag: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        main = methods.get("post") or next(iter(methods.values()))
        by_tag[main["tags"][0]].append(_operation(path, methods, main))
    contents = " · ".join(f'<a href="#{_anchor(tag)}">{escape(tag)}</a>' for tag in by_tag)
    sections = [
        f'<h2 id="{_anchor(tag)}">{escape(tag)}</h2>\n' + "\n".join(operations) for tag, operations in by_tag.items()
    ]
    intro = (
        "<p>Call a flow with <code>POST /v1/namespace/flow</code>, its arguments as a JSON object and your token as "
        "<code>Authorization: Bearer …</code>; a flow that changes nothing also with <code>GET</code>. "
        'This page as data: <a href="openapi.json">openapi.json</a>. What the codes mean: '
        '<a href="problems">problems</a>.</p>'
    )
    return page(f"{document['info']['title']} {document['info']['version']}", intro, f"<p>{contents}</p>", *sections)


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


def _operation(path: str, methods: Mapping[str, Any], main: Mapping[str, Any]) -> str:
    verbs = "/".join(method.upper() for method in methods)
    marked = ' class="gone"' if main.get("deprecated") else ""
    parts = [f"<p>{escape(main['description'])}</p>", _hints(main.get(ABOUT, {}))]
    body = main.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        parts += [_fields(body["schema"]), *_examples(path, body.get("examples", {}).values())]
    return (
        f'<details id="{escape(main["operationId"])}"><summary><span class="method">{verbs}</span> '
        f"<code{marked}>{escape(path)}</code> {escape(main['summary'])}</summary>{''.join(parts)}</details>"
    )


def _hints(about: Mapping[str, Any]) -> str:
    if not about:
        return ""
    hints = ", ".join(f"{name}: {str(value).lower()}" for name, value in about["hints"].items())
    tools = f"; tool {', '.join(about['tools'])}" if about["tools"] else ""
    return f'<p class="quiet">{escape(about["kind"])}, tier {about["tier"]}{escape(tools)}; {escape(hints)}</p>'


def _fields(schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' *' if name in needed else ''}</td><td>{escape(_kind(field))}</td>"
        f"<td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in schema["properties"].items()
    )
    return f"<table>{rows}</table>" if rows else ""


def _kind(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    kind = field.get("type", "any")
    if kind == "array":
        return f"list of {_kind(field.get('items', {}))}"
    return kind if isinstance(kind, str) else " | ".join(kind)


def _examples(path: str, examples: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for example in examples:
        body = orjson.dumps(example["value"], option=orjson.OPT_INDENT_2).decode()
        told = f"{example['summary']}. {example['description']}"
        yield f"<p>{escape(told)}</p><pre>POST {escape(path)}\n\n{escape(body)}</pre>"


def _anchor(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text.lower())
