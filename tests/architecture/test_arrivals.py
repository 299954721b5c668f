"""What is told about a file before it is taken over, and again when it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engross.domains.architecture import metamodel
from engross.replies import Reply
from tests.architecture.door import Door, open_door
from tests.architecture.files import ARCHI, EXCHANGE, element, exchange
from tests.architecture.studio import Studio, done, errors, warned
from tests.bed.offices import Offices

pytestmark = pytest.mark.requirement("ECO-06")
NODES = f"<elements>{element('a', 'Node', 'A')}{element('b', 'Node', 'B')}</elements>"


def both(studio: Studio, **call: Any) -> list[Reply]:
    """The answers to a dry run, and to the import itself."""
    looked = done(studio.clara.architecture.import_model(**call))
    taken = studio.clara.architecture.import_model(**call, mode="commit")
    if taken.message_key == "CONFIRMATION_REQUIRED":
        token = taken.data["confirm_token"]
        taken = studio.clara.architecture.import_model(**call, mode="commit", confirm_token=token)
    return [looked, done(taken)]


def told(answer: Reply, code: str) -> list[dict[str, Any]]:
    return [one for one in answer.data["warnings"] if one["code"] == code]


def flow(identifier: str, source: str = "a", target: str = "b", kind: str = "Flow") -> str:
    return f'<relationship identifier="{identifier}" source="{source}" target="{target}" xsi:type="{kind}"/>'


def test_a_name_that_the_model_has_already_is_warned_of(studio: Studio) -> None:
    known = studio.element("Dup", "Node")
    content = exchange(f"<elements>{element('a', 'Node', 'dup')}{element('b', 'Device', 'Dup')}</elements>")
    for answer in both(studio, content=content, model_id="default"):
        (warning,) = told(answer, "DUPLICATE_NAME")
        assert warning["existing_element"] == {"id": known["id"], "type": "Node", "name": "Dup"}
        assert warning["field"] == "content"
    # What is there by now, under its own id, is not there twice because it comes again.
    again = done(studio.clara.architecture.import_model(content=content, model_id="default"))
    assert told(again, "DUPLICATE_NAME") == []
    assert again.data["changes"]["unchanged"] == 2


def test_a_relationship_that_is_there_twice_is_warned_of(studio: Studio) -> None:
    ties = f"<relationships>{flow('r1')}{flow('r2')}{flow('r3', 'b', 'a')}</relationships>"
    answers = both(studio, content=exchange(NODES + ties))
    for answer in answers:
        assert [one["place"] for one in told(answer, "DUPLICATE_RELATIONSHIP")] == ["r1"]
    model = answers[1].data["model"]["id"]
    more = exchange(f"{NODES}<relationships>{flow('r4')}</relationships>")
    for answer in both(studio, content=more, model_id=model):
        (warning,) = told(answer, "DUPLICATE_RELATIONSHIP")
        assert warning["existing_relationship"]["type"] == "Flow"


def test_a_model_name_that_is_taken_gets_a_number_and_a_warning(studio: Studio) -> None:
    first, _ = both(studio, content=EXCHANGE)
    assert (first.data["model"]["name"], told(first, "DUPLICATE_NAME")) == ("Corner shop", [])
    for answer in both(studio, content=EXCHANGE, model_name="CORNER SHOP"):
        assert answer.data["model"]["name"] == "CORNER SHOP (2)"
        (warning,) = told(answer, "DUPLICATE_NAME")
        assert warning["field"] == "model_name"
    # A known model keeps its name, or gets one that no other has.
    kept, _ = both(studio, content=EXCHANGE, model_id="Corner shop")
    assert (kept.data["model"]["name"], warned(kept)) == ("Corner shop", ["DRY_RUN"])
    renamed = both(studio, content=EXCHANGE, model_id="Corner shop", model_name="default")
    assert [one.data["model"]["name"] for one in renamed] == ["default (2)"] * 2


def test_a_dry_run_counts_what_the_import_will_do(studio: Studio) -> None:
    looked, taken = both(studio, content=EXCHANGE)
    assert looked.data["changes"] == taken.data["counts"]
    changed = EXCHANGE.replace("<value>12</value>", "<value>13</value>").replace(
        'identifier="e-goal" xsi:type="Goal"', 'identifier="e-new" xsi:type="Goal"'
    )
    changed = changed.replace('"e-goal"', '"e-new"')
    looked, taken = both(studio, content=changed, model_id="Corner shop")
    assert looked.data["changes"] == taken.data["counts"]
    assert looked.data["changes"] == {
        **{"elements_created": 1, "elements_updated": 1, "relationships_created": 2, "relationships_updated": 0},
        **{"views_created": 0, "views_updated": 0, "unchanged": 12, "relationships_skipped": 0},
    }
    assert looked.data["counts"]["elements"] == 8


def test_a_dry_run_tells_of_an_element_that_changed_its_type(studio: Studio) -> None:
    both(studio, content=EXCHANGE)
    changed = EXCHANGE.replace('"e-order" xsi:type="DataObject"', '"e-order" xsi:type="BusinessObject"')
    call = {"content": changed, "model_id": "Corner shop", "on_invalid": "skip"}
    looked = done(studio.clara.architecture.import_model(**call)).data
    assert (looked["would_be_refused"], looked["counts"]["problems"]) == (True, 1)
    assert "changes" not in looked
    assert errors(studio.clara.architecture.import_model(**call, mode="commit")) == {"content": "VALIDATION_ERROR"}


def test_of_very_many_warnings_all_are_counted(shared_studio: Studio) -> None:
    many = "".join(element(f"e{n}", "Node", f"N {n // 2}") for n in range(60))
    looked = done(shared_studio.clara.architecture.import_model(content=exchange(f"<elements>{many}</elements>")))
    assert len(told(looked, "DUPLICATE_NAME")) == 20
    assert looked.data["warnings_in_all"] == 30


def test_what_is_not_kept_is_counted(studio: Studio) -> None:
    for answer in both(studio, content=ARCHI):
        assert answer.data["not_kept"] == {"sketches": 1}
        assert told(answer, "NOT_KEPT")
    whole = done(studio.clara.architecture.import_model(content=EXCHANGE))
    assert "not_kept" not in whole.data


def test_a_property_that_nobody_defined_is_warned_of(studio: Studio) -> None:
    one = '<properties><property propertyDefinitionRef="p-lost"><value>1</value></property></properties></element>'
    content = exchange(NODES.replace("</element>", one, 1))
    for answer in both(studio, content=content):
        (warning,) = told(answer, "PROPERTY_UNDEFINED")
        assert warning["uses"] == 1
    model = done(studio.clara.architecture.list_models()).data["models"][-1]["id"]
    found = done(studio.clara.architecture.get_element(ref="A", model_id=model)).data["element"]
    assert found["properties"] == {"p-lost": "1"}


def test_what_is_wrong_with_a_file_names_the_argument_that_it_came_in(offices: Offices) -> None:
    studio = offices.open(domains="architecture").architecture
    rows = "ID,Type,Name,Documentation\n"
    assert errors(studio.import_model(files={"elements.csv": rows + "1,Robot,R,\n"}, mode="commit")) == {
        "files": "INVALID_ELEMENT_TYPE"
    }
    tied = {
        "elements.csv": f"{rows}c,Capability,C,\na,ApplicationComponent,A,\n",
        "relations.csv": "ID,Type,Name,Documentation,Source,Target\nr,RealizationRelationship,,,c,a\n",
    }
    assert errors(studio.import_model(files=tied, mode="commit")) == {"files": "INVALID_RELATIONSHIP"}
    assert errors(studio.import_model(files={"elements.csv": rows + "1,Node,,\n"}, mode="commit")) == {
        "files": "VALIDATION_ERROR"
    }
    for ask in (studio.import_model, studio.diff_models):
        assert errors(ask(content_hash="0" * 64)) == {"content_hash": "RECORD_NOT_FOUND"}
        assert errors(ask(files={"elements.csv": "x"})) == {"files": "IMPORT_UNREADABLE"}


def test_names_with_control_characters_are_none_in_a_file_either(shared_studio: Studio) -> None:
    rows = "ID,Type,Name,Documentation\n"
    for name in ("bell\x07", "delete\x7f", "\x02"):
        answer = shared_studio.clara.architecture.import_model(
            files={"elements.csv": f"{rows}1,Node,{name},\n"}, mode="commit"
        )
        assert errors(answer) == {"files": "VALIDATION_ERROR"}


def test_a_conflict_at_a_junction_says_what_the_junction_joins(studio: Studio) -> None:
    ends = "".join(element(name, "BusinessProcess", name) for name in "abc")
    things = f'<elements>{ends}<element identifier="j" xsi:type="AndJunction"/></elements>'
    ties = flow("r1", "a", "j", "Triggering") + flow("r2", "b", "j", "Triggering") + flow("r3", "j", "c")
    content = exchange(f"{things}<relationships>{ties}</relationships>")
    (wrong,) = done(studio.clara.architecture.import_model(content=content)).data["invalid_relationships"]
    assert (wrong["id"], wrong["code"], wrong["existing_type"]) == ("r3", "JUNCTION_CONFLICT", "Triggering")
    assert wrong["valid_relationships"] == ["Triggering"]
    refused = studio.clara.architecture.import_model(content=content, mode="commit")
    assert errors(refused) == {"content": "JUNCTION_CONFLICT"}
    assert refused.data["suggestions"]["existing_type"] == "Triggering"


def test_what_a_junction_would_join_and_may_not_is_named_by_pairs(shared_studio: Studio) -> None:
    source, target = next(
        (source, target)
        for source in metamodel().element_types
        for target in metamodel().element_types
        if metamodel().allows("Flow", source, "AndJunction")
        and metamodel().allows("Flow", "AndJunction", target)
        and not metamodel().allows("Flow", source, target)
    )
    things = element("a", source, "A") + element("b", target, "B")
    junction = '<element identifier="j" xsi:type="AndJunction"/>'
    content = exchange(
        f"<elements>{things}{junction}</elements><relationships>{flow('r1', 'a', 'j')}{flow('r2', 'j', 'b')}"
        "</relationships>"
    )
    looked = done(shared_studio.clara.architecture.import_model(content=content)).data
    (wrong,) = looked["invalid_relationships"]
    assert wrong["offending_pairs"] == [{"source_type": source, "target_type": target}]
    assert wrong["valid_relationships"] == []


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    with open_door(tmp_path / "office") as found:
        yield found


def test_the_same_is_told_over_mcp_and_rest(door: Door) -> None:
    door.element("Node", "Twin")
    call = {"content": exchange(f"<elements>{element('a', 'Node', 'Twin')}</elements>"), "model_id": "default"}
    by_tool = door.asked("tools/call", "owner", "importModel", arguments=call)["structuredContent"]
    by_rest = door.rest("architecture.import-model", **call)
    for answer in (by_tool, by_rest):
        assert [one["code"] for one in answer["warnings"]] == ["DUPLICATE_NAME", "DRY_RUN"]
        assert answer["changes"]["elements_created"] == 1


def things(*elements: tuple[str, str], ties: str = "") -> str:
    held = "".join(element(identifier, kind, identifier.upper()) for identifier, kind in elements)
    return exchange(f"<elements>{held}</elements>" + (f"<relationships>{ties}</relationships>" if ties else ""))


JOINED = things(
    *(("j", "AndJunction"), ("p", "BusinessProcess"), ("q", "BusinessProcess")), ties=flow("t", "p", "j", "Triggering")
)


@pytest.mark.requirement("ARCH-20")
@pytest.mark.parametrize(
    "ties",
    [
        pytest.param(flow("f", "j", "q"), id="of another type"),
        pytest.param(flow("f", "j", "q") + flow("g", "j", "r") + flow("h", "q", "j"), id="more of another type"),
    ],
)
def test_a_junction_of_the_model_joins_what_it_joined_before(studio: Studio, ties: str) -> None:
    model = both(studio, content=JOINED)[1].data["model"]["id"]
    more = things(*(("j", "AndJunction"), ("q", "BusinessProcess"), ("r", "BusinessProcess")), ties=ties)
    looked = done(studio.clara.architecture.import_model(content=more, model_id=model))
    assert looked.data["would_be_refused"] is True
    assert {one["code"] for one in looked.data["invalid_relationships"]} == {"JUNCTION_CONFLICT"}
    assert {one["existing_type"] for one in looked.data["invalid_relationships"]} == {"Triggering"}
    refused = studio.clara.architecture.import_model(content=more, model_id=model, mode="commit")
    assert set(errors(refused).values()) == {"JUNCTION_CONFLICT"}
    without = both(studio, content=more, model_id=model, on_invalid="skip")[1]
    assert without.data["counts"]["relationships_skipped"] == ties.count("<relationship")
    assert studio.clara.architecture.check_model(model_id=model).data["sound"] is True


def test_who_brings_to_a_junction_what_the_model_may_not_join_there_is_at_odds(studio: Studio) -> None:
    first = things(("j", "AndJunction"), ("s", "BusinessService"), ties=flow("t", "j", "s", "Realization"))
    model = both(studio, content=first)[1].data["model"]["id"]
    fits = things(("j", "AndJunction"), ("p", "BusinessProcess"), ties=flow("u", "p", "j", "Realization"))
    both(studio, content=fits, model_id=model)
    more = things(("j", "AndJunction"), ("n", "Goal"), ties=flow("v", "n", "j", "Realization"))
    (wrong,) = done(studio.clara.architecture.import_model(content=more, model_id=model)).data["invalid_relationships"]
    assert (wrong["id"], wrong["code"]) == ("v", "JUNCTION_CONFLICT")
    assert wrong["offending_pairs"] == [{"source_type": "Goal", "target_type": "BusinessService"}]


def test_ids_that_xml_takes_for_one_are_still_two_things(studio: Studio) -> None:
    model = both(studio, content=things(("a b", "Node")))[1].data["model"]["id"]
    for _ in range(2):
        both(studio, content=things(("a b", "Node"), ("a-b", "Node")), model_id=model)
    found = studio.clara.architecture.list_elements(model_id=model).data["elements"]
    assert sorted(one["name"] for one in found) == ["A B", "A-B"]
    renamed = exchange(f"<elements>{element('a b', 'Node', 'One')}{element('a-b', 'Node', 'Two')}</elements>")
    both(studio, content=renamed, model_id=model)
    found = studio.clara.architecture.list_elements(model_id=model).data["elements"]
    assert sorted(one["name"] for one in found) == ["One", "Two"]
