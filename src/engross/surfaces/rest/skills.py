"""The catalogue of skills: what documents tell agents they can do, with the files that tell how."""

from __future__ import annotations

import io
from collections.abc import Mapping
from mimetypes import guess_type
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

from engross.flows import Skill, SkillTool, shortened
from engross.replies import Invalid, codes
from engross.surfaces.desk import Desk

from .answers import refuse_address, send_bytes
from .asked import Asked
from .looking import looked_at

JSON, ZIP = "application/json", "application/zip"
PRIVATE = {"cache-control": "private, no-cache"}
# Whatever a file says it is, a browser must not run it here.
SAVED = {**PRIVATE, "content-security-policy": "default-src 'none'; sandbox"}


class Skills:
    """The ASGI endpoint of the catalogue; it never runs anything."""

    def __init__(self, desk: Desk, base_url: str) -> None:
        self._desk = desk
        self._base = base_url

    def namespaces(self) -> set[str]:
        """Below which names there are skills."""
        return {skill.namespace for skill in self._desk.catalogue.skills}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        shown = await looked_at(Asked(scope), scope, send, self._base, self._shown)
        if shown is not None:
            media_type, content, headers = shown
            await send_bytes(send, 200, media_type, content, headers)

    def _shown(self, scope: Scope) -> tuple[str, bytes, Mapping[str, str]]:
        namespace, parts = _asked_for(scope["path"])
        skills = tuple(one for one in self._desk.catalogue.skills if namespace in (None, one.namespace))
        if not parts:
            return _json(_listed(skills))
        skill = next((one for one in skills if one.name == parts[0]), None)
        if skill is None:
            refuse_address(scope)
        if len(parts) == 1:
            return _json(_told(skill))
        if skill.files is None or parts[1] not in ("contents", "download"):
            refuse_address(scope)
        if parts[1:] == ["download"]:
            name = {"content-disposition": f'attachment; filename="{skill.name}.zip"'}
            return ZIP, _packed(skill.files), {**SAVED, **name}
        if parts[1:] == ["contents"]:
            return _json(
                {"name": skill.name, "files": [_file(path, skill.files[path]) for path in sorted(skill.files)]}
            )
        if parts[1] != "contents":
            refuse_address(scope)
        return _content(scope, skill.files, "/".join(parts[2:]))


def _asked_for(path: str) -> tuple[str | None, list[str]]:
    """The namespace, if one is named before `skills`, and what is asked for below that."""
    parts = path.strip("/").split("/")
    if parts[0] == "skills":
        return None, parts[1:]
    return parts[0], parts[2:]


def _json(data: Mapping[str, Any]) -> tuple[str, bytes, Mapping[str, str]]:
    return JSON, orjson.dumps(data), PRIVATE


def _content(scope: Scope, files: Mapping[str, bytes], path: str) -> tuple[str, bytes, Mapping[str, str]]:
    if any(part in ("", ".", "..") for part in path.split("/")) or "\\" in path or "\0" in path:
        raise Invalid(codes.VALIDATION_ERROR, {"problem": f"{shortened(path)} is no path of a file"})
    if path not in files:
        refuse_address(scope)
    return _media_type(path), files[path], SAVED


def _listed(skills: tuple[Skill, ...]) -> dict[str, Any]:
    return {"count": len(skills), "skills": [_outline(skill) for skill in skills]}


def _outline(skill: Skill) -> dict[str, Any]:
    told: dict[str, Any] = {"name": skill.name, "description": skill.description}
    if "license" in skill.about:
        told["license"] = skill.about["license"]
    return {**told, "tools": [tool.name for tool in skill.tools]}


def _told(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        **skill.about,
        "tools": [_tool(tool) for tool in skill.tools],
    }


def _tool(tool: SkillTool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.instruction is not None:
        return {**told, "type": "instruction", "instruction": tool.instruction}
    called = {"targetNamespace": tool.namespace, "action": tool.action, "mode": tool.mode}
    return {**told, "type": "derived", "invocationRef": called}


def _file(path: str, content: bytes) -> dict[str, Any]:
    return {"path": path, "size": len(content), "type": _media_type(path)}


def _media_type(path: str) -> str:
    if path.endswith(".md"):
        return "text/markdown; charset=utf-8"
    found = guess_type(path)[0] or "application/octet-stream"
    return f"{found}; charset=utf-8" if found.startswith("text/") else found


def _packed(files: Mapping[str, bytes]) -> bytes:
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for path in sorted(files):
            # The same files are the same bytes: what a clock says is no part of them.
            archive.writestr(ZipInfo(path), files[path], ZIP_DEFLATED)
    return packed.getvalue()
