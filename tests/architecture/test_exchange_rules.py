"""What goes out keeps to the exchange format, whatever came in or was written here."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from engross.domains.architecture import metamodel
from engross.domains.architecture.exchange.checking import check
from engross.domains.architecture.exchange.exchange_xml import read_exchange
from engross.surfaces.client import Client
from tests.architecture.exchange_rules import complaints
from tests.architecture.files import ARCHI, EXCHANGE, element, exchange
from tests.architecture.studio import Studio, done


def exported(client: Client, model: str) -> str:
    text: str = done(client.architecture.export_model(model_id=model)).data["text"]
    return text


def imported(client: Client, **content: Any) -> str:
    answer = done(client.architecture.import_model(**content, mode="commit"))
    model: str = answer.data["model"]["id"]
    return model


@pytest.mark.requirement("ECO-06", "REL-07")
@pytest.mark.parametrize("content", [EXCHANGE, ARCHI])
def test_a_file_that_came_in_goes_out_by_the_rules_and_the_same_from_then_on(studio: Studio, content: str) -> None:
    text = exported(studio.clara, imported(studio.clara, content=content))
    assert complaints(text) == []
    elsewhere = studio.clara.as_("clara", "human", ["curator"], tenant="elsewhere")
    assert exported(elsewhere, imported(elsewhere, content=text)) == text


def test_the_rules_would_find_a_fault() -> None:
    assert complaints(EXCHANGE) == []
    faults = (
        (' identifier="e-orders"', ' identifier="1 orders"'),
        ("<elements>", "<relationships/><elements>"),
        ('source="e-orders"', 'source="e-nobody"'),
        ('x="10"', 'x="-10"'),
        ('accessType="ReadWrite"', 'accessType="3"'),
        ('propertyDefinitionRef="p-cost"', 'propertyDefinitionRef="p-lost"'),
        ('identifier="n-2"', 'identifier="n-1"'),
        ("<name>Ordering</name>", ""),
    )
    for right, wrong in faults:
        assert right in EXCHANGE
        assert complaints(EXCHANGE.replace(right, wrong, 1)), wrong


def test_ids_that_xml_would_take_for_one_stay_apart(shared_studio: Studio) -> None:
    files = {
        "elements.csv": "ID,Type,Name,Documentation\n"
        "a b,Node,One,\na-b,Node,Two,\n1,Device,Three,\nid-1,Device,Four,\n",
        "relations.csv": "ID,Type,Name,Documentation,Source,Target\na b r,AssociationRelationship,,,a b,a-b\n",
    }
    model = imported(shared_studio.clara, files=files)
    text = exported(shared_studio.clara, model)
    assert complaints(text) == []
    assert {name for name in ("One", "Two", "Three", "Four") if f"<name>{name}</name>" in text} == {
        *("One", "Two", "Three", "Four")
    }
    back = shared_studio.clara.architecture.import_model(files=files, mode="commit", model_id=model)
    assert done(back).data["counts"]["unchanged"] == 5


def test_a_model_may_be_called_like_something_in_it(shared_studio: Studio) -> None:
    body = f"<elements>{element('m', 'Node', 'M')}</elements>"
    assert complaints(exported(shared_studio.clara, imported(shared_studio.clara, content=exchange(body)))) == []


def test_two_files_in_one_model_do_not_share_the_ids_of_their_shapes(shared_studio: Studio) -> None:
    model = imported(shared_studio.clara, content=EXCHANGE)
    other = EXCHANGE.replace('identifier="v-1"', 'identifier="v-2"').replace(
        'identifierRef="v-1"', 'identifierRef="v-2"'
    )
    asked = {"content": other, "mode": "commit", "model_id": model}
    first = shared_studio.clara.architecture.import_model(**asked)
    token = first.data.get("confirm_token")
    if token:
        done(shared_studio.clara.architecture.import_model(**asked, confirm_token=token))
    text = exported(shared_studio.clara, model)
    assert text.count("<view ") == 2
    assert complaints(text) == []


def test_what_was_deleted_is_in_no_view_and_no_folder(studio: Studio) -> None:
    model = imported(studio.clara, content=EXCHANGE)
    listed = done(studio.clara.architecture.list_elements(model_id=model)).data["elements"]
    for one in listed:
        if one["name"] in ("Orders", "Ordering"):
            studio.delete(one)
    text = exported(studio.clara, model)
    assert complaints(text) == []
    assert "e-orders" not in text


@pytest.mark.requirement("ECO-06")
def test_bends_of_archis_lines_are_kept(shared_studio: Studio) -> None:
    bent = ARCHI.replace(
        'archimateRelationship="r2"/>',
        'archimateRelationship="r2"><bendpoint startX="100" startY="-20" endX="-60" endY="40"/></sourceConnection>',
    )
    text = exported(shared_studio.clara, imported(shared_studio.clara, content=bent))
    assert complaints(text) == []
    # Halfway between what it is from the middle of d1 (170, 87.5) and from that of d2 (560, 77.5).
    assert '<bendpoint x="385" y="92"/>' in text


@pytest.mark.requirement("REL-07")
@pytest.mark.parametrize("kind", ["plain", "nested in views", "with properties"])
def test_reading_takes_as_many_steps_as_the_file_is_long(kind: str) -> None:
    def steps(count: int) -> int:
        body = "".join(element(f"e{n}", "Node", f"N {n}") for n in range(count))
        if kind == "with properties":
            one = '<properties><property propertyDefinitionRef="p"><value>1</value></property></properties></element>'
            body = body.replace("</element>", one)
        shapes = "".join(
            f'<node identifier="n{n}" elementRef="e{n}" xsi:type="Element" x="1" y="1" w="1" h="1"/>'
            for n in range(count)
        )
        view = (
            f'<view identifier="v" xsi:type="Diagram"><name>V</name>{shapes}</view>'
            if kind.startswith("nested")
            else ""
        )
        views = f"<views><diagrams>{view}</diagrams></views>" if view else ""
        content = exchange(f"<elements>{body}</elements>{views}").encode()
        made = 0

        def count_step(frame: object, event: str, argument: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count_step)
        try:
            check(read_exchange(content))
        finally:
            sys.setprofile(before)
        return made

    assert steps(1600) < 4.2 * steps(400)


NAMES = some.text(
    some.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufffe\uffff"),
    min_size=1,
    max_size=12,
).filter(str.strip)
TYPES = some.sampled_from(metamodel().creatable_types)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=some.lists(some.tuples(TYPES, NAMES), min_size=1, max_size=5),
    properties=some.dictionaries(NAMES, some.one_of(NAMES, some.booleans(), some.integers(-9, 9)), max_size=3),
)
def test_whatever_is_written_here_goes_out_by_the_rules(
    shared_studio: Studio, names: list[tuple[str, str]], properties: dict[str, Any]
) -> None:
    architecture = shared_studio.clara.architecture
    model = done(architecture.create_model(name=f"Model {len(architecture.list_models().data['models'])}")).data[
        "model"
    ]
    made = [
        done(architecture.create_element(type=kind, name=name, properties=properties, model_id=model["id"])).data
        for kind, name in names
    ]
    for first, second in pairwise(made):
        ends = {"source_id": first["element"]["id"], "target_id": second["element"]["id"]}
        architecture.create_relationship(type="Association", **ends)
    text = exported(shared_studio.clara, model["id"])
    assert complaints(text) == []
    again = done(architecture.diff_models(model_id=model["id"], content=text)).data
    assert again["counts"]["elements"] == {"added": 0, "removed": 0, "changed": again["counts"]["elements"]["changed"]}
