"""The page `/docs`: what the OpenAPI document says, for people."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

import orjson

from engross.replies import REGISTRY
from engross.replies.envelopes import JSON

from .components import REF
from .openapi import ABOUT
from .pages import cell, code, page, prose
from .shapes import Field, fields_of, kind_of

TOKEN = '-H "Authorization: Bearer $TOKEN"'
USUAL = "http://127.0.0.1:8080"
PLACE = re.compile(r"\$(\d+)\.([\w.]+)")
NOT_TOLD = "What it tells besides <code>reply</code> is not promised field by field."
OTHERS = 'With 4XX and 5XX also what any call may be refused with, or <a href="#failures">fail</a> with'


def docs_page(document: Mapping[str, Any]) -> bytes:
    """Every operation, by tag, and what they share."""
    by_tag: dict[str, list[str]] = {tag["name"]: [prose(tag["description"])] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        main = methods.get("post") or next(iter(methods.values()))
        by_tag[main["tags"][0]].append(_operation(path, methods, main, document["components"]))
    contents = " · ".join(f'<a href="#{_anchor(tag)}">{escape(tag)}</a>' for tag in by_tag)
    sections = [
        f'<h2 id="{_anchor(tag)}">{escape(tag)}</h2>\n<p>{told}</p>' + "\n".join(operations)
        for tag, (told, *operations) in by_tag.items()
    ]
    title = f"{document['info']['title']} {document['info']['version']}"
    return page(title, _intro(document), f"<p>{contents}</p>", *sections, *_shared(document["components"]))


def _intro(document: Mapping[str, Any]) -> str:
    address = document["servers"][0]["url"].rstrip("/") or USUAL
    return (
        f"<p>{prose(document['info']['description'])}</p>"
        "<p>Call a flow with <code>POST /v1/namespace/flow</code>, its arguments as a JSON object and your token as "
        "<code>Authorization: Bearer …</code>; a flow that changes nothing also with <code>GET</code>. "
        'This page as data: <a href="openapi.json">openapi.json</a>. What the codes mean: '
        '<a href="problems">problems</a>.</p>'
        "<p>The examples are lines for a shell that knows what comes before <code>/docs</code> in the address of this "
        "page, and your token, such as that in <code>tokens/owner.token</code> of the office's folder:</p>"
        f"<pre>OFFICE={escape(shlex.quote(address))}\nTOKEN=$(cat engross-data/tokens/owner.token)</pre>"
    )


def _operation(path: str, methods: Mapping[str, Any], main: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    verbs = "/".join(method.upper() for method in methods)
    marked = ' class="gone"' if main.get("deprecated") else ""
    about = main.get(ABOUT, {})
    body = main.get("requestBody", {}).get("content", {}).get(JSON, {})
    told = (
        f"<p>{prose(main['description'])}</p>",
        _hints(about),
        *_arguments(main, body.get("schema", {}), parts["parameters"]),
        *_answers(main["responses"], about, parts["schemas"]),
        *_examples(path, body.get("examples", {}).values()),
    )
    return (
        f'<details id="{escape(main["operationId"])}"><summary><span class="method">{verbs}</span> '
        f"<code{marked}>{escape(path)}</code> {escape(main['summary'])}</summary>{''.join(told)}</details>"
    )


def _hints(about: Mapping[str, Any]) -> str:
    if not about:
        return ""
    hints = ", ".join(f"{name}: {str(value).lower()}" for name, value in about["hints"].items())
    tools = f"; tool {', '.join(about['tools'])}" if about["tools"] else ""
    return f'<p class="quiet">{escape(about["kind"])}, tier {about["tier"]}{escape(tools)}; {escape(hints)}</p>'


def _arguments(main: Mapping[str, Any], schema: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    """What it takes in its body, and what elsewhere; of what many operations take, the names."""
    given = [one for one in main.get("parameters", ()) if REF not in one]
    fields = [*fields_of(schema), *map(_parameter, given)]
    yield "<h3>Takes</h3>"
    yield _table(fields) if fields else "<p>No arguments.</p>"
    shared = [one[REF].rpartition("/")[2] for one in main.get("parameters", ()) if REF in one]
    if shared:
        links = ", ".join(f'<a href="#parameter-{name}">{escape(parameters[name]["name"])}</a>' for name in shared)
        yield f'<p class="quiet">As many operations do, also {links}.</p>'


def _parameter(told: Mapping[str, Any]) -> Field:
    shape = told.get("schema") or told.get("content", {}).get(JSON, {}).get("schema", {})
    kind = f"{kind_of(shape)}; in the {told['in']}"
    return Field(told["name"], told.get("required", False), kind, told.get("description", ""))


def _told(schema: Mapping[str, Any]) -> str:
    """What an answer has besides `reply`, which is told once."""
    return _table([field for field in fields_of(schema) if field.name != "reply"], needed="always")


def _table(fields: Iterable[Field], needed: str = "needed") -> str:
    rows = "".join(
        _row(code(field.name) + (f" <b>{needed}</b>" if field.needed else ""), field.kind, cell(field.description))
        for field in fields
    )
    return f'<table class="fields">{rows}</table>'


def _row(*cells: str, anchor: str = "") -> str:
    place = f' id="{anchor}"' if anchor else ""
    return f"<tr{place}>{''.join(f'<td>{one}</td>' for one in cells)}</tr>"


def _answers(responses: Mapping[str, Any], about: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    """Each status that means success and each refusal of its own, then the shape of what comes back."""
    good = {status: told for status, told in responses.items() if REF not in told}
    rows = [_row(status, cell(told["description"])) for status, told in good.items()]
    yield f"<h3>Answers</h3><table>{''.join([*rows, *map(_refusal, about.get('refuses', ()))])}</table>"
    shape = next((told["content"][JSON]["schema"] for told in good.values() if JSON in told.get("content", {})), None)
    plainly = ", in the shape of its own answers" if "Plain" in responses["4XX"][REF] else ""
    yield f"<p>{OTHERS}{plainly}.</p>"
    if shape is not None:
        answer = schemas[shape[REF].rpartition("/")[2]]
        yield _told(answer) if len(answer["properties"]) > 1 else f"<p>{NOT_TOLD}</p>"


def _refusal(told: Mapping[str, Any]) -> str:
    link = f'<a href="problems/{escape(told["code"])}">{code(told["message_key"])}</a>'
    return _row(str(told["status"]), f"{link} {escape(REGISTRY.entry(told['code']).title)}")


def _examples(path: str, examples: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each as lines for a shell, with the calls that have to come before it."""
    for example in examples:
        about = example[ABOUT]
        before = [_curl(f"/v1/{ref.replace('.', '/')}", arguments) for ref, arguments in about["given"]]
        lines = "\n".join([*before, _curl(path, example["value"])])
        told = [f"{example['summary']}. Ends in `{about['reply']}`.", *_places(lines)]
        yield f"<h3>Example</h3><p>{prose(' '.join(told))}</p><pre>{escape(lines)}</pre>"


def _places(lines: str) -> Iterator[str]:
    """What only an earlier answer says, so that it has to be put in by hand."""
    for place, (call, steps) in dict.fromkeys((found[0], found.groups()) for found in PLACE.finditer(lines)):
        yield f"In the place of `{place}` goes `{steps}` of the answer to call {int(call) + 1}."


def _curl(path: str, arguments: Mapping[str, Any]) -> str:
    body = shlex.quote(orjson.dumps(arguments).decode())
    return f'curl "$OFFICE{path}" {TOKEN} \\\n  -H "Content-Type: {JSON}" -d {body}'


def _shared(parts: Mapping[str, Any]) -> Iterator[str]:
    """What many operations take, and how any may fail."""
    yield '<h2 id="parameters">Parameters of many operations</h2>'
    rows = "".join(
        _row(code(told["name"]), _parameter(told).kind, cell(told["description"]), anchor=f"parameter-{name}")
        for name, told in parts["parameters"].items()
    )
    yield f'<table class="fields">{rows}</table>'
    yield '<h2 id="failures">Failures</h2>'
    failures = {name.removeprefix("Failure"): told for name, told in parts["responses"].items() if name[0] == "F"}
    rows = "".join(_row(name, cell(told["description"])) for name, told in failures.items())
    yield f"<table>{rows}</table><p>{prose(parts['schemas']['Problem']['description'])}</p>"
    yield _told(parts["schemas"]["Problem"])
    outcome = parts["schemas"]["Outcome"]
    yield f'<h2 id="reply"><code>reply</code>, in every answer</h2><p>{prose(outcome["description"])}</p>'
    yield _told(outcome)


def _anchor(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text.lower())
