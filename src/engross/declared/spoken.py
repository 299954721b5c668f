"""Read flows that no document declares as flows: the words of a prompt, and the files of a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from engross.flows import Aggregate, Facets

from .attachments import attachment
from .exposing import flow_name
from .model import Document, McpResource

PLACE = re.compile(r"\{\{\s*([a-zA-Z0-9_-]+)\s*\}\}")
Reading = Callable[[object, Mapping[str, Any]], Mapping[str, object]]


def speaker_of(messages: tuple[tuple[str, str], ...]) -> Reading:
    """The code of a flow that speaks these messages, as (role, text), with arguments in their places."""

    def speak(reader: object, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """The words of a prompt."""

        def said(found: re.Match[str]) -> str:
            return str(arguments.get(found[1], found[0]))

        return {
            "messages": [
                {"role": role, "content": {"type": "text", "text": PLACE.sub(said, text)}} for role, text in messages
            ]
        }

    return speak


def offer_folder(home: Aggregate, resource: McpResource, document: Document) -> None:
    """The files of a folder, each at an address of its own."""
    files = document.files[attachment(resource.location or "", resource.place)]
    flow = home.define("read", _reader_of(files), **_reading(resource))
    for path in files:
        home.resource(
            f"{resource.uri.rstrip('/')}/{path}",
            flow,
            name=f"{resource.name}/{path}",
            title=f"{resource.display}: {path}",
            description=resource.description,
            mime_type=resource.mime_type or "text/plain",
            text="text",
            changes="",
            arguments={"path": path},
        )


def _reader_of(files: Mapping[str, bytes]) -> Reading:
    def read_file(reader: object, arguments: Mapping[str, Any]) -> Mapping[str, object]:
        """A file of the folder."""
        return {"text": files[arguments["path"]].decode("utf-8", "replace")}

    return read_file


def _reading(resource: McpResource) -> Facets:
    path = {"type": "string", "description": "The file."}
    schema = {"type": "object", "properties": {"path": path}, "required": ["path"], "additionalProperties": False}
    return {
        "name": f"{flow_name(resource.name)}-file",
        "description": resource.description,
        "arguments": schema,
        "answers": {"type": "object", "properties": {"text": {"type": "string"}}},
        "exposed": False,
        "controls": (),
    }
