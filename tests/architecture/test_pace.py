"""Agents that build step by step are told that there is a shorter way."""

import pytest

from tests.architecture.studio import Studio, done, warned


@pytest.mark.requirement("ARCH-26")
def test_an_agent_that_makes_many_single_writes_is_pointed_to_one_call(studio: Studio) -> None:
    for number in range(5):
        answer = done(studio.robot.architecture.create_element(type="Node", name=f"Server {number}"))
        assert "USE_TEMPLATE" not in warned(answer)
    sixth = done(studio.robot.architecture.create_element(type="Node", name="Server 5"))
    assert "USE_TEMPLATE" in warned(sixth)
    (told,) = [one for one in sixth.data["suggestions"] if one.startswith("USE_TEMPLATE")]
    assert "applyChanges" in told
    assert "createCapabilityStructure" in told
    related = studio.robot.architecture.create_relationship(
        type="Flow", source_ref="Node/Server 0", target_ref="Node/Server 1"
    )
    assert "USE_TEMPLATE" in warned(done(related))


def test_people_and_calls_for_many_are_left_alone(studio: Studio) -> None:
    for number in range(7):
        answer = done(studio.clara.architecture.create_element(type="Node", name=f"Server {number}"))
        assert "USE_TEMPLATE" not in warned(answer)
    for number in range(7):
        change = {"operation": "createElement", "payload": {"type": "Device", "name": f"Rack {number}"}}
        assert "USE_TEMPLATE" not in warned(done(studio.robot.architecture.apply_changes(operations=[change])))
    assert "USE_TEMPLATE" not in warned(done(studio.scout.architecture.create_element(type="Node", name="Other")))
