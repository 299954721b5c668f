"""An office with the architecture domain, and the people and agents who work there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engross.domains.architecture import Ways, architecture
from engross.office import Settings
from engross.office.capabilities import catalogue_of
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices

FLOWS = {flow.ref: flow for flow in catalogue_of(Settings(data=Path("nowhere"), domains="architecture"))}
"""Every flow of an office that keeps architecture models, by its ref."""


class Studio:
    """One store with the architecture domain: Clara curates, Scout is an agent."""

    def __init__(self, offices: Offices, ways: Ways | None = None, **settings: Any) -> None:
        self.clara = offices.open(architecture(ways) if ways else architecture(), **settings)
        self.scout = self.clara.as_("scout", "agent", ["agent"])
        self.robot = self.clara.as_("robot", "agent", ["curator"])

    def element(self, name: str, kind: str = "ApplicationComponent", **more: Any) -> dict[str, Any]:
        """A new element, committed."""
        return dict(done(self.clara.architecture.create_element(type=kind, name=name, **more)).data["element"])

    def relate(self, kind: str, source: Mapping[str, Any], target: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """A new relationship, committed."""
        answer = self.clara.architecture.create_relationship(
            type=kind, source_id=source["id"], target_id=target["id"], **more
        )
        return dict(done(answer).data["relationship"])

    def delete(self, element: Mapping[str, Any]) -> Reply:
        """Delete an element, and confirm it."""
        asked = self.clara.architecture.delete_element(id=element["id"])
        return self.clara.architecture.delete_element(id=element["id"], confirm_token=asked.data["confirm_token"])


def done(answer: Reply) -> Reply:
    """The answer, which must be a success."""
    assert answer.ok, (answer.message_key, answer.data)
    return answer


def errors(answer: Reply) -> dict[str, str]:
    """What was refused: field by code."""
    assert answer.reply_type == "I", answer
    return {str(error["field"]): error["code"] for error in answer.data["errors"]}


def validate(client: Client, operation: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """What validateWrite says."""
    return dict(done(client.call("record.validate-write", {"operation": operation, "payload": payload})).data)


def warned(answer: Reply) -> list[str]:
    """The codes of all warnings."""
    return [warning["code"] for warning in answer.data["warnings"]]
