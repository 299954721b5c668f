"""Every example of every flow is run, on both engines; every flow is portable and small."""

import pytest

from engross.domains.architecture import architecture
from engross.flows import lint
from tests.architecture.studio import Studio
from tests.bed.trying import outcome


@pytest.mark.requirement("ARCH-03")
def test_every_example_ends_as_it_says(studio: Studio) -> None:
    tried = 0
    for flow in architecture().flows.values():
        for given in flow.examples:
            tried += 1
            somewhere_new = studio.clara.as_("clara", "human", ["curator"], tenant=f"t{tried}")
            answer = outcome(somewhere_new, flow, given)
            assert answer.message_key == given.reply, (flow, given.title, answer)
    assert tried > 40


def test_every_flow_has_an_example_and_is_portable() -> None:
    flows = list(architecture().flows.values())
    assert [flow.ref for flow in flows if not flow.examples] == []
    assert lint(flows) == []
