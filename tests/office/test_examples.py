"""Every example of every flow is run, on both engines; every flow is portable and says what it promises."""

from collections.abc import Iterator

import pytest

from engross.flows import Aggregate, Flow, lint
from engross.office import Office, Settings
from tests.bed.offices import EXAMPLES, Offices, example
from tests.bed.trying import outcome

LADDER = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))


def shelf_of(name: str) -> Aggregate:
    aggregate: Aggregate = example(name).shelf
    return aggregate


@pytest.fixture(scope="module")
def whole_office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    office = Office(Settings(data=folder), [shelf_of("04-the-whole")])
    yield office
    office.close()


@pytest.mark.parametrize("name", LADDER)
def test_every_example_ends_as_it_says(offices: Offices, name: str) -> None:
    curator = offices.open(shelf_of(name))
    tried = 0
    for flow in curator.office.catalogue:
        for given in flow.examples:
            tried += 1
            somewhere_new = curator.as_("clara", "human", ["curator", "admin"], tenant=f"t{tried}")
            answer = outcome(somewhere_new, flow, given)
            assert answer.message_key == given.reply, (flow, given.title, answer)
    own = sum(len(flow.examples) for flow in shelf_of(name).flows.values())
    assert tried >= 10 + own


def test_every_flow_of_the_office_and_of_the_whole_domain_has_an_example(whole_office: Office) -> None:
    assert [flow.ref for flow in whole_office.catalogue if not flow.examples] == []


@pytest.mark.parametrize("name", LADDER)
def test_every_flow_of_the_ladder_is_portable_and_its_examples_fit(name: str) -> None:
    flows = list(shelf_of(name).flows.values())
    assert flows
    assert lint(flows) == []


def test_every_flow_of_the_office_is_portable_and_its_examples_fit(whole_office: Office) -> None:
    assert lint(whole_office.catalogue) == []


@pytest.mark.requirement("MEM-38")
def test_every_flow_says_how_consistent_and_how_determined_it_is(whole_office: Office) -> None:
    flows: list[Flow] = list(whole_office.catalogue)
    assert len(flows) > 15
    for flow in flows:
        assert flow.consistency.tier in ("strong", "eventual")
        assert (flow.consistency.max_delay_ms is None) == (flow.consistency.tier == "strong")
        assert flow.determinism.deterministic or flow.determinism.reason
