"""A document, held to all rules."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from engross.flows import Semantics as Promised

from .attachments import attachment
from .binding import NO_BINDS, Binds, resolve
from .fault import BadDocument, Fault, Faults, near
from .fitness import check_fitness
from .lints import lint
from .loading import load
from .model import Document, Exposes, McpExposes, Place, RestExposes, SkillExposes, SkillTool
from .references import check_references
from .request import Blueprint
from .scope import check_scope

NO_OTHERS: Mapping[str, Promised] = MappingProxyType({})


class Checked(NamedTuple):
    """What came of checking: the document as far as it could be read, and what was found."""

    document: Document | None
    binds: Binds
    faults: tuple[Fault, ...]

    @property
    def broken(self) -> bool:
        """Is there anything that keeps it from being used?"""
        return any(fault.severity == "error" for fault in self.faults)


def check(
    file: Path,
    others: Mapping[str, Promised] = NO_OTHERS,
    environ: Mapping[str, str] | None = None,
    *,
    bound: bool = True,
    alone: bool = False,
) -> Checked:
    """Check a document. `others` are the flows of the office, each with what it promises.

    Without `bound` no value is looked up. A section alone may call what only the document that imports it knows, unless
    it is to be used `alone`.
    """
    faults = Faults()
    document = load(file, faults)
    if document is None:
        return Checked(None, NO_BINDS, faults.sorted())
    _check_namespaces(document, faults)
    check_references(document, others, alone or not document.partial, faults)
    check_scope(document, faults)
    check_fitness(document, others, faults)
    _check_skills(document, faults)
    lint(document, others, faults)
    binds = resolve(document, os.environ if environ is None else environ, faults) if bound else NO_BINDS
    if bound and not faults.broken:
        _check_sending(document, binds, faults)
    return Checked(document, binds, faults.sorted())


def checked(
    file: Path,
    others: Mapping[str, Promised] = NO_OTHERS,
    environ: Mapping[str, str] | None = None,
    *,
    bound: bool = True,
) -> Checked:
    """A document that can be used; BadDocument for one that cannot."""
    found = check(file, others, environ, bound=bound, alone=True)
    if found.broken or found.document is None:
        raise BadDocument(found.faults)
    return found


def _check_sending(document: Document, binds: Binds, faults: Faults) -> None:
    """V3: operations that could never be sent, whatever the arguments."""
    values = {name: binds.value(name) or "" for name in binds.names}
    for client in document.consumes.values():
        for operation in client.operations.values():
            try:
                Blueprint(client, operation, values)
            except ValueError as error:
                faults.error("V3", operation.place, f"{operation.name} cannot be sent: {error}.")


def _check_namespaces(document: Document, faults: Faults) -> None:
    """V5: one name for one thing among what is consumed, exposed and bound."""
    seen: dict[str, tuple[str, Place]] = {}
    for section, entries in (
        ("binds", document.binds),
        ("consumes", document.consumes),
        ("exposes", document.exposes),
    ):
        for namespace, entry in entries.items():
            place: Place = entry.place
            kind, first = seen.setdefault(namespace, (section, place))
            if first is not place:
                told = f"The namespace {namespace} is taken by {kind} in line {first.line} already."
                faults.error("V5", place, told)


def _check_skills(document: Document, faults: Faults) -> None:
    """V15: what a skill derives from is exposed, and its files are there."""
    actions = {namespace: exposed_names(one) for namespace, one in document.exposes.items()}
    actions = {namespace: names for namespace, names in actions.items() if names}
    for exposes in document.exposes.values():
        for skill in exposes.skills.values() if isinstance(exposes, SkillExposes) else ():
            files = document.files.get(attachment(skill.location, skill.place)) if skill.location else None
            for tool in skill.tools.values():
                _check_skill_tool(tool, actions, files, faults)


def exposed_names(exposes: Exposes) -> frozenset[str]:
    """What can be called by name in an exposure: tools, or operations."""
    if isinstance(exposes, McpExposes):
        return frozenset(exposes.tools)
    if isinstance(exposes, RestExposes):
        return frozenset(name for resource in exposes.resources.values() for name in resource.operations)
    return frozenset()


def _check_skill_tool(
    tool: SkillTool, actions: Mapping[str, Collection[str]], files: Collection[str] | None, faults: Faults
) -> None:
    if tool.source_namespace is not None:
        known = actions.get(tool.source_namespace)
        if known is None:
            told = f"The tool {tool.name} is from {tool.source_namespace}, which exposes nothing here."
            faults.error("V15", tool.place, told, near(tool.source_namespace, actions))
        elif tool.action not in known:
            told = f"{tool.source_namespace} exposes no {tool.action}."
            faults.error("V15", tool.place, told, near(tool.action, known))
    if tool.instruction is not None and files and tool.instruction not in files:
        told = f"There is no file {tool.instruction} in the folder of the skill."
        faults.error("V15", tool.place, told, near(tool.instruction, files))
