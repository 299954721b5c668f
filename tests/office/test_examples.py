"""Every example of every flow is run, on both engines; every flow is portable and says what it promises."""

from collections.abc import Iterator

import pytest

from engross.flows import Aggregate, Example, Flow, filled, lint
from engross.office import Office, Settings
from tests.bed.offices import EXAMPLES, Offices, example

LADDER = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))


def shelf_of(name: str) -> Aggregate:
    aggregate: Aggregate = example(name).shelf
    return aggregate


def examples_of_the_ladder() -> Iterator[tuple[str, str, int]]:
    for name in LADDER:
        for flow in shelf_of(name).flows.values():
            for number in range(len(flow.examples)):
                yield name, flow.ref, number


@pytest.fixture(scope="module")
def whole_office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    office = Office(Settings(data=folder), [shelf_of("04-the-whole")])
    yield office
    office.close()


def run(offices: Offices, aggregates: list[Aggregate], ref: str, number: int) -> tuple[Example, str, object]:
    curator = offices.open(*aggregates)
    flow = curator.office.catalogue.flow(ref)
    given = flow.examples[number]
    answers: list[dict[str, object]] = []
    for before, arguments in given.given:
        answer = curator.call(before, filled(arguments, answers))  # type: ignore[arg-type]
        assert answer.ok, (before, answer)
        answers.append(dict(answer.data))
    answer = curator.call(ref, filled(given.arguments, answers))  # type: ignore[arg-type]
    return given, answer.message_key, answer


@pytest.mark.parametrize(("name", "ref", "number"), list(examples_of_the_ladder()))
def test_an_example_ends_as_it_says(offices: Offices, name: str, ref: str, number: int) -> None:
    given, key, answer = run(offices, [shelf_of(name)], ref, number)
    assert key == given.reply, answer


def test_the_offices_own_examples_end_as_they_say(offices: Offices) -> None:
    curator = offices.open()
    tried = 0
    for flow in curator.office.catalogue:
        if flow.aggregate.namespace not in ("office", "proposals"):
            continue
        for given in flow.examples:
            answer = curator.call(flow.ref, dict(given.arguments))
            assert answer.message_key == given.reply, (flow, answer)
            tried += 1
    assert tried >= 10


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
