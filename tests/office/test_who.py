"""Whom the office takes a caller for: what their credential says, and nothing else."""

from __future__ import annotations

from engross.surfaces.client import Client


def test_everybody_may_ask_who_they_are(curator: Client) -> None:
    told = curator.call("record.who-am-i", {})
    assert told.ok, told
    assert {name: told.data[name] for name in ("tenant", "principal", "stands_for")} == {
        "tenant": "main",
        "principal": {"id": "clara", "type": "human", "roles": ["curator"]},
        "stands_for": "clara",
    }
    agent = curator.as_("agent:bob", "agent", ["agent"], tenant="umbrella").call("record.who-am-i", {})
    assert (agent.data["principal"]["id"], agent.data["stands_for"]) == ("agent:bob", "bob")
    assert agent.data["tenant"] == "umbrella"
    assert curator.as_("vic", "human", ["viewer"]).call("record.who-am-i", {}).data["principal"]["roles"] == ["viewer"]
    assert curator.call("record.who-am-i", {"principal": "eve"}).reply_type == "I"
