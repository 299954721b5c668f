"""What goes out and comes in again is what it was: names, properties of every kind, folders, views."""

from __future__ import annotations

from itertools import count
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from engross.domains.architecture.exchange.values import as_text, as_value, survives, usual_kind
from engross.surfaces.client import Client
from tests.architecture.exchange_rules import complaints
from tests.architecture.files import ARCHI, EXCHANGE, element, exchange
from tests.architecture.studio import Studio, done, warned

NS = {"a": "http://www.opengroup.org/xsd/archimate/3.0/"}
NUMBERS = count()
pytestmark = pytest.mark.requirement("ECO-06")


def exported(client: Client, model: str = "default") -> str:
    text: str = done(client.architecture.export_model(model_id=model)).data["text"]
    return text


def imported(client: Client, **call: Any) -> str:
    answer = client.architecture.import_model(**call, mode="commit")
    if answer.message_key == "CONFIRMATION_REQUIRED":
        token = answer.data["confirm_token"]
        answer = client.architecture.import_model(**call, mode="commit", confirm_token=token)
    model: str = done(answer).data["model"]["id"]
    return model


def properties(client: Client, model: str) -> list[dict[str, Any]]:
    listed = done(client.architecture.list_elements(model_id=model)).data["elements"]
    return [one["properties"] for one in listed]


def elsewhere(studio: Studio) -> Client:
    return studio.clara.as_("clara", "human", ["curator"], tenant=f"there{next(NUMBERS)}")


KINDS: dict[str, Any] = {
    **{"whole": 1, "part": 1.5, "negative": -3, "small": 1e-9, "large": 10**15, "yes": True, "no": False},
    **{"none": None, "text": "1", "said": "true", "empty": "", "padded": " 7 ", "zero": "007", "lines": "a\nb"},
    **{"": "without a name", "a [propid-1]": "brackets"},
}


def test_properties_keep_their_types(studio: Studio) -> None:
    studio.element("All", properties=KINDS)
    text = exported(studio.clara)
    assert complaints(text) == []
    there = elsewhere(studio)
    model = imported(there, content=text, model_id="default")
    (found,) = properties(there, model)
    assert [(key, type(value), value) for key, value in sorted(found.items())] == [
        (key, type(value), value) for key, value in sorted(KINDS.items())
    ]
    assert exported(there, model) == text
    assert done(studio.clara.architecture.diff_models(content=text)).data["same"] is True
    assert there.office.rebuild(there.tenant).same


def test_values_of_several_types_may_have_one_name(studio: Studio) -> None:
    for name, value in (("A", 1), ("B", "1"), ("C", True), ("D", None), ("E", "")):
        studio.element(name, properties={"mixed": value})
    text = exported(studio.clara)
    assert complaints(text) == []
    root = ElementTree.fromstring(text)
    kinds = sorted(str(one.get("type")) for one in root.iterfind(".//a:propertyDefinition", NS))
    assert kinds == ["boolean", "number", "string"]
    there = elsewhere(studio)
    model = imported(there, content=text, model_id="default")
    assert [(type(one["mixed"]), one["mixed"]) for one in properties(there, model)] == [
        *((int, 1), (str, "1"), (bool, True), (type(None), None), (str, "")),
    ]
    assert exported(there, model) == text


@pytest.mark.parametrize("format", ["exchange_xml", "archimate", "archi_csv"])
def test_all_values_of_a_property_are_shown_and_kept(studio: Studio, format: str) -> None:
    if format == "exchange_xml":
        held = "".join(
            f'<property propertyDefinitionRef="p"><value>{value}</value></property>' for value in ("x", "y", "x")
        )
        defined = (
            '<propertyDefinitions><propertyDefinition identifier="p" type="string"><name>team</name>'
            "</propertyDefinition></propertyDefinitions>"
        )
        one = element("a", "Node", "A").replace("</element>", f"<properties>{held}</properties></element>")
        call: dict[str, Any] = {"content": exchange(f"<elements>{one}</elements>{defined}")}
    elif format == "archimate":
        call = {"content": ARCHI.replace('value="A"/>', 'value="x"/><property key="team" value="y"/>', 1)}
        call["content"] = call["content"].replace('key="team" value="B"', 'key="team" value="x"')
    else:
        rows = "".join(f"a,team,{value}\n" for value in ("x", "y", "x"))
        call = {
            "files": {
                "elements.csv": "ID,Type,Name,Documentation\na,Node,A,\n",
                "properties.csv": f"ID,Key,Value\n{rows}",
            }
        }
    model = imported(studio.clara, **call)
    assert [one["team"] for one in properties(studio.clara, model) if "team" in one] == ["x\ny\nx"]
    text = exported(studio.clara, model)
    assert complaints(text) == []
    assert [one for one in ("x", "y") if f"<value>{one}</value>" in text] == ["x", "y"]
    assert text.count("<value>x</value>") == 2
    there = elsewhere(studio)
    again = imported(there, content=text)
    assert [one["team"] for one in properties(there, again) if "team" in one] == ["x\ny\nx"]
    assert exported(there, again) == text
    files = done(there.architecture.export_model(model_id=again, format="archi_csv")).data["files"]
    assert files["properties.csv"].count('"team","x"') == 2


def test_a_property_that_was_changed_since_has_one_value(studio: Studio) -> None:
    model = imported(studio.clara, content=ARCHI)
    orders = done(studio.clara.architecture.get_element(ref="Orders", model_id=model)).data["element"]
    done(studio.clara.architecture.update_element(id=orders["id"], properties={"team": "A"}))
    text = exported(studio.clara, model)
    assert "<value>A</value>" in text
    assert "<value>B</value>" not in text


def test_the_version_of_a_model_is_kept(studio: Studio) -> None:
    versioned = EXCHANGE.replace('identifier="model-1"', 'identifier="model-1" version="1.2"')
    root = ElementTree.fromstring(exported(studio.clara, imported(studio.clara, content=versioned)))
    assert root.get("version") == "1.2"


def outline(item: ElementTree.Element) -> list[Any]:
    """A folder with what is in it."""
    label = item.find("a:label", NS)
    inside = [one.get("identifierRef") or outline(one) for one in item.iterfind("a:item", NS)]
    return [label.text if label is not None else None, *inside]


def test_archis_folders_are_kept(studio: Studio) -> None:
    text = exported(studio.clara, imported(studio.clara, content=ARCHI))
    assert complaints(text) == []
    (folders,) = ElementTree.fromstring(text).iterfind("a:organizations", NS)
    assert outline(folders)[1:] == [
        ["Application", ["Inner", "id-1"], "id-2"],
        ["Other", "id-3", "id-4"],
        ["Motivation", "id-5"],
        ["Relations", "r1", "r2", "r3", "r4"],
        ["Views", "v1"],
    ]
    there = elsewhere(studio)
    assert exported(there, imported(there, content=text)) == text


def test_archis_colours_and_what_is_said_about_a_view_are_kept(shared_studio: Studio) -> None:
    painted = ARCHI.replace('id="d2" archimateElement="2"', 'id="d2" archimateElement="2" fillColor="#ff8000"')
    painted = painted.replace('name="Main" id="v1">', 'name="Main" id="v1"><documentation>All</documentation>')
    text = exported(shared_studio.clara, imported(shared_studio.clara, content=painted))
    assert complaints(text) == []
    (colour,) = ElementTree.fromstring(text).iterfind(".//a:fillColor", NS)
    assert colour.attrib == {"r": "255", "g": "128", "b": "0"}
    assert "<documentation>All</documentation>" in text


def test_a_second_file_adds_its_folders_and_definitions(studio: Studio) -> None:
    model = imported(studio.clara, content=EXCHANGE)
    other = exchange(
        f"<elements>{element('z', 'Node', 'Z')}</elements><organizations><item><label>More</label>"
        '<item identifierRef="z"/></item></organizations><propertyDefinitions>'
        '<propertyDefinition identifier="p-z" type="date"><name>When</name></propertyDefinition></propertyDefinitions>'
    )
    for content in (other, other, EXCHANGE):
        imported(studio.clara, content=content, model_id=model)
        text = exported(studio.clara, model)
        assert complaints(text) == []
        root = ElementTree.fromstring(text)
        folders = [tree for one in root.iterfind("a:organizations", NS) for tree in outline(one)[1:]]
        assert sorted(folders) == [
            ["Application", "e-orders", "e-ordering"],
            ["More", "z"],
            ["Views", "v-1"],
        ]
        kinds = {one.get("identifier"): one.get("type") for one in root.iterfind(".//a:propertyDefinition", NS)}
        assert kinds == {"p-owner": "string", "p-cost": "number", "p-note": "string", "p-z": "date"}


def test_characters_that_xml_cannot_hold_are_warned_of(studio: Studio) -> None:
    one = studio.element("A", description="a\x02b\x1f", properties={"key\x01": "v"})
    answer = done(studio.clara.architecture.export_model())
    assert warned(answer) == ["CHARACTERS_REPLACED"]
    (warning,) = answer.data["warnings"]
    assert warning["count"] == 3
    assert warning["places"] == [{"id": one["id"], "field": "description"}, {"id": one["id"], "field": "properties"}]
    assert "warnings" not in done(studio.clara.architecture.export_model(format="archi_csv")).data


def test_a_directed_association_is_drawn_with_a_direction(shared_studio: Studio) -> None:
    model = imported(shared_studio.clara, content=EXCHANGE)
    ask = shared_studio.clara.architecture.export_model
    drawn = done(ask(model_id=model, format="mermaid")).data["text"]
    assert drawn.count('-->|"Association"|') == 1
    tips = done(ask(model_id=model, format="svg")).data["text"].count('marker-end="url(#tip)"')
    # All but the association of a goal to a relationship, which is no line between boxes.
    assert tips == 6


# What the fixed point is looked for among.
LETTERS = some.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufffe\uffff")
NAMES = some.text(LETTERS, min_size=1, max_size=10).filter(str.strip)
TEXTS = some.text(some.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=10)
VALUES = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(-(2**53), 2**53),
    some.floats(allow_nan=False, allow_infinity=False, width=32),
    TEXTS,
    some.sampled_from(["", "1", "1.0", "true", "null", "-0", "1e5", " 1", "x\ny", "\r\n\t"]),
)
KEYS = some.one_of(
    TEXTS, some.sampled_from(["", "a", "a [propid-2]", "a [propid-1]", "specialization", "profile.owner"])
)
THINGS = some.lists(
    some.tuples(
        some.sampled_from(["Node", "BusinessProcess", "Grouping", "Capability", "DataObject"]),
        NAMES,
        some.dictionaries(KEYS, VALUES, max_size=4),
        some.one_of(some.none(), TEXTS),
    ),
    min_size=1,
    max_size=4,
)
TIES = some.lists(
    some.one_of(
        some.tuples(some.just("Association"), some.fixed_dictionaries({}, optional={"is_directed": some.booleans()})),
        some.tuples(
            some.just("Access"),
            some.fixed_dictionaries({"access_type": some.sampled_from(["Access", "Read", "Write", "ReadWrite"])}),
        ),
        some.tuples(
            some.just("Influence"),
            some.fixed_dictionaries({"modifier": some.sampled_from(["+", "--", "0", "10", '<&">'])}),
        ),
    ),
    max_size=5,
)


@pytest.mark.requirement("REL-07")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(things=THINGS, ties=TIES)
def test_out_and_in_and_out_again_is_the_same(shared_studio: Studio, things: list[Any], ties: list[Any]) -> None:
    here, there = elsewhere(shared_studio), elsewhere(shared_studio)
    made: list[str] = []
    for kind, name, own, description in things:
        call = {"type": kind, "name": name, "properties": own, "description": description}
        answer = here.architecture.create_element(**{key: one for key, one in call.items() if one is not None})
        assert answer.ok or answer.reply_type == "I", answer
        made += [answer.data["element"]["id"]] if answer.ok else []
    for number, (kind, more) in enumerate(ties):
        if made:
            ends = {"source_id": made[number % len(made)], "target_id": made[(number * 2 + 1) % len(made)]}
            here.architecture.create_relationship(type=kind, **ends, **more)
    first = exported(here)
    assert complaints(first) == []
    again = imported(there, content=first, model_id="default")
    assert exported(there, again) == first
    before, after = (done(one.architecture.list_elements()).data["elements"] for one in (here, there))
    assert sorted(map(_told, before)) == sorted(map(_told, after))
    assert done(here.architecture.diff_models(content=first)).data["same"] is True


def _told(one: dict[str, Any]) -> str:
    own = {**one["properties"], **{f"profile.{key}": value for key, value in one.get("profile", {}).items()}}
    return repr((one["type"], one["name"], one["description"] or "", sorted(own.items())))


@given(value=VALUES)
def test_a_value_survives_under_its_usual_kind(value: Any) -> None:
    assert survives(value, usual_kind(value))
    for kind in ("string", "number", "boolean", "date", "time", "currency"):
        text = as_text(value)
        assert as_text(as_value(text, kind)) == text
