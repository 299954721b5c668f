"""Files that are made to do harm: they are refused, or read in a time that goes by their length."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from engross.domains.architecture.exchange.archi import read_archi, unzipped
from engross.domains.architecture.exchange.archi_csv import read_csv
from engross.domains.architecture.exchange.checking import check
from engross.domains.architecture.exchange.doubles import doubles
from engross.domains.architecture.exchange.exchange_out import write_exchange
from engross.domains.architecture.exchange.exchange_xml import read_exchange
from engross.domains.architecture.exchange.parcel import Parcel
from engross.domains.architecture.exchange.standing import Standing
from engross.replies import Invalid
from tests.architecture.files import ARCHI, EXCHANGE, element, exchange
from tests.architecture.studio import Studio, done, errors

pytestmark = pytest.mark.requirement("REL-07", "REL-10")
REFUSED = ("IMPORT_UNREADABLE", "IMPORT_UNSAFE")
ELEMENTS = "ID,Type,Name,Documentation\n1,Node,A,\n2,Node,B,\n"
RELATIONS = "ID,Type,Name,Documentation,Source,Target\nr,FlowRelationship,,,1,2\n"
PROPERTIES = "ID,Key,Value\n1,k,v\n1,k,w\n"


def outcome(read: Callable[[], Parcel]) -> str:
    """The format of what was read and looked over, or why it was not."""
    try:
        parcel = read()
    except Invalid as refused:
        return str(refused).partition(" ")[2]
    check(parcel)
    doubles(parcel, Standing())
    return parcel.format


@settings(max_examples=200, deadline=None)
@given(some.binary(max_size=60), some.integers(0, len(ARCHI)), some.integers(0, 80))
def test_no_file_makes_archis_reader_crash(noise: bytes, start: int, length: int) -> None:
    whole = ARCHI.encode()
    for content in (noise, b"PK\x03\x04" + noise, whole[:start] + noise + whole[start + length :], whole[:start]):
        assert outcome(partial(read_archi, content)) in ("archimate", *REFUSED)


@settings(max_examples=200, deadline=None)
@given(
    some.sampled_from(["elements.csv", "relations.csv", "properties.csv"]), some.text(max_size=30), some.integers(0, 60)
)
def test_no_table_makes_the_reader_crash(name: str, noise: str, start: int) -> None:
    files = {"elements.csv": ELEMENTS, "relations.csv": RELATIONS, "properties.csv": PROPERTIES}
    for text in (noise, files[name][:start] + noise + files[name][start:], files[name][:start]):
        assert outcome(partial(read_csv, {**files, name: text})) in ("archi_csv", *REFUSED)


@pytest.mark.parametrize("encoding", ["utf-7", "gb2312", "no-such", "rot13", "hex", "utf-32", "shift_jis"])
def test_an_encoding_that_is_none_is_refused(encoding: str) -> None:
    text = EXCHANGE.replace("UTF-8", encoding).encode()
    assert outcome(lambda: read_exchange(text)) == "IMPORT_UNREADABLE"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_a_document_type_hides_in_no_encoding(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding[:6]}"?><!DOCTYPE m [<!ENTITY a "b">]><m>&a;</m>'
    assert outcome(lambda: read_exchange(text.encode(encoding))) in REFUSED


def archive(content: bytes, name: str = "model.xml") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as one:
        one.writestr(name, content)
    return target.getvalue()


def test_an_archive_that_lies_about_its_size_is_refused() -> None:
    large = archive(b"<a>" + b" " * 30_000_000)
    small = struct.pack("<I", 100)
    lying = bytearray(large)
    lying[22:26] = small
    place = large.rindex(b"PK\x01\x02") + 24
    lying[place : place + 4] = small
    with pytest.raises(Invalid) as told:
        unzipped(bytes(lying))
    assert str(told.value).partition(" ")[2] in REFUSED


@pytest.mark.parametrize("name", ["../model.xml", "/model.xml", "MODEL.XML", "model.xml/", "a/model.xml"])
def test_a_model_elsewhere_in_an_archive_is_none(name: str) -> None:
    assert outcome(lambda: read_archi(archive(ARCHI.encode(), name))) == "IMPORT_UNREADABLE"


def test_an_archive_in_an_archive_is_not_opened() -> None:
    assert outcome(lambda: read_archi(archive(archive(ARCHI.encode())))) == "IMPORT_UNREADABLE"


def test_harm_in_an_archive_is_harm() -> None:
    assert outcome(lambda: read_archi(archive(b"<!DOCTYPE m [<!ENTITY a 'b'>]><m>&a;</m>"))) == "IMPORT_UNSAFE"


def test_relationships_that_only_hang_on_each_other_are_not_allowed(shared_studio: Studio) -> None:
    def tie(identifier: str, source: str, target: str) -> str:
        return f'<relationship identifier="{identifier}" source="{source}" target="{target}" xsi:type="Association"/>'

    ties = {
        "itself": tie("r1", "r1", "a"),
        "each other": tie("r1", "r2", "a") + tie("r2", "a", "r1"),
        "its own end": tie("r0", "a", "b") + tie("r1", "r0", "a"),
    }
    nodes = f"<elements>{element('a', 'Node', 'A')}{element('b', 'Node', 'B')}</elements>"
    for told in ties.values():
        content = exchange(f"{nodes}<relationships>{told}</relationships>")
        looked = done(shared_studio.clara.architecture.import_model(content=content)).data
        assert looked["would_be_refused"] is True
        assert "r1" in [one["id"] for one in looked["invalid_relationships"]]
        refused = shared_studio.clara.architecture.import_model(content=content, mode="commit")
        assert refused.message_key == "INVALID_RELATIONSHIP"
        taken = {"content": content, "on_invalid": "skip", "mode": "commit"}
        done(shared_studio.clara.architecture.import_model(**taken))


def test_two_views_do_not_share_an_id(shared_studio: Studio) -> None:
    view = '<view identifier="v" xsi:type="Diagram"><name>V</name></view>'
    content = exchange(f"<views><diagrams>{view}{view}</diagrams></views>")
    assert errors(shared_studio.clara.architecture.import_model(content=content, mode="commit")) == {
        "content": "VALIDATION_ERROR"
    }


def test_numbers_that_nothing_here_could_hold_stay_texts(shared_studio: Studio) -> None:
    values = ("9" * 40, "1e999", "nan", "inf", "-inf", "9223372036854775808", "1_000", "\u0661")
    held = "".join(
        f'<property propertyDefinitionRef="p{n}"><value>{value}</value></property>' for n, value in enumerate(values)
    )
    defined = "".join(
        f'<propertyDefinition identifier="p{n}" type="number"><name>n{n}</name></propertyDefinition>'
        for n in range(len(values))
    )
    one = element("a", "Node", "A").replace("</element>", f"<properties>{held}</properties></element>")
    content = exchange(f"<elements>{one}</elements><propertyDefinitions>{defined}</propertyDefinitions>")
    answer = done(shared_studio.clara.architecture.import_model(content=content, mode="commit"))
    model = answer.data["model"]["id"]
    (found,) = done(shared_studio.clara.architecture.list_elements(model_id=model)).data["elements"]
    assert found["properties"] == {f"n{n}": value for n, value in enumerate(values)}
    assert done(shared_studio.clara.architecture.export_model(model_id=model)).data["text"].count("<value>") == 8


def chained(count: int) -> str:
    """Junctions that lead into one another, the last of them first."""
    junctions = "".join(f'<element identifier="j{n}" xsi:type="AndJunction"/>' for n in range(count))
    ties = "".join(
        f'<relationship identifier="r{n}" source="j{n}" target="j{n + 1}" xsi:type="Flow"/>'
        for n in reversed(range(count - 1))
    )
    first = '<relationship identifier="first" source="a" target="j0" xsi:type="Flow"/>'
    things = f"<elements>{element('a', 'Node', 'A')}{junctions}</elements>"
    return exchange(f"{things}<relationships>{ties}{first}</relationships>")


def repeated(count: int) -> str:
    """One property so many times."""
    held = "".join(f'<property propertyDefinitionRef="p"><value>{n}</value></property>' for n in range(count))
    return exchange(
        f"<elements>{element('a', 'Node', 'A').replace('</element>', f'<properties>{held}</properties></element>')}"
        "</elements>"
    )


def defined(count: int) -> str:
    """So many definitions of one name and no id."""
    one = '<propertyDefinition identifier="" type="string"><name>n</name></propertyDefinition>'
    return exchange(f"<propertyDefinitions>{one * count}</propertyDefinitions>")


def tied(count: int) -> str:
    """Relationships that hang on one another."""
    ties = "".join(
        f'<relationship identifier="r{n}" source="a" target="r{n - 1}" xsi:type="Association"/>'
        for n in range(count, 1, -1)
    )
    return exchange(
        f"<elements>{element('a', 'Node', 'A')}</elements><relationships>{ties}"
        '<relationship identifier="r1" source="a" target="a" xsi:type="Composition"/></relationships>'
    )


def alike(count: int) -> str:
    """Ids that are one and the same to XML."""
    marks = "!$%/()=?"
    names = (
        "".join(marks[number // len(marks) ** place % len(marks)] for place in range(6)) for number in range(count)
    )
    return exchange("<elements>" + "".join(element(f"a{name}", "Node", name) for name in names) + "</elements>")


@pytest.mark.parametrize("made", [chained, repeated, defined, tied, alike])
def test_what_could_take_for_ever_takes_as_many_steps_as_it_is_long(made: Callable[[int], str]) -> None:
    def steps(count: int) -> int:
        content = made(count).encode()
        taken = 0

        def step(frame: Any, event: str, argument: Any) -> Any:
            nonlocal taken
            taken += event == "line"
            return step

        before = sys.gettrace()
        sys.settrace(step)
        try:
            parcel = read_exchange(content)
            check(parcel)
            doubles(parcel, Standing())
            things = [{"id": one.id, "external_id": one.id, **one.said} for one in parcel.elements]
            write_exchange({"name": "M", "external_id": "m", "extra": parcel.extra}, things, [], [])
        finally:
            sys.settrace(before)
        return taken

    assert steps(1200) < 4.4 * steps(300)


def test_archis_file_in_base64_may_not_be_cut_short(shared_studio: Studio) -> None:
    whole = b64encode(archive(ARCHI.encode())).decode()
    for content in (whole[:-3], whole[:40], f"{whole}!"):
        answer = shared_studio.clara.architecture.import_model(content=content, mode="commit")
        assert errors(answer)["content"] in ("VALIDATION_ERROR", *REFUSED)
