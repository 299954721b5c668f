"""Model files in and out: nothing is lost on the way, and nothing is taken that could do harm."""

import io
import zipfile
from base64 import b64encode
from itertools import count
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.domains.architecture import Ways
from engross.domains.architecture.exchange.archi import unzipped
from engross.domains.architecture.exchange.exchange_xml import read_exchange
from engross.domains.architecture.exchange.trees import MOST_DEPTH
from engross.replies import Invalid, Reply
from engross.surfaces.client import Client
from tests.architecture.files import ARCHI, EXCHANGE, element, exchange
from tests.architecture.studio import Studio, done, errors, validate, warned
from tests.bed.offices import Offices

NS = {"a": "http://www.opengroup.org/xsd/archimate/3.0/"}
XSI = "{http://www.w3.org/2001/XMLSchema-instance}type"
NUMBERS = count()
pytestmark = pytest.mark.requirement("ECO-06")


def take(studio: Studio, content: str, at: Client | None = None, **more: Any) -> Reply:
    """Import for good, and confirm it where that is asked."""
    client = at or studio.clara
    call = {"content": content, "mode": "commit", **more}
    answer = client.architecture.import_model(**call)
    if answer.message_key == "CONFIRMATION_REQUIRED":
        answer = client.architecture.import_model(**call, confirm_token=answer.data["confirm_token"])
    return answer


def export(studio: Studio, model: str, at: Client | None = None, **more: Any) -> str:
    return str(done((at or studio.clara).architecture.export_model(model_id=model, **more)).data["text"])


def elsewhere(studio: Studio, tenant: str = "elsewhere") -> Client:
    return studio.clara.as_("clara", "human", ["curator"], tenant=tenant)


def names(studio: Studio, model: str) -> list[str]:
    return [one["name"] for one in studio.clara.architecture.list_elements(model_id=model).data["elements"]]


def test_a_dry_run_says_what_would_come_and_takes_nothing(studio: Studio) -> None:
    answer = done(studio.clara.architecture.import_model(content=EXCHANGE))
    assert answer.message_key == "VALIDATION_DONE"
    assert answer.data["counts"] == {
        "elements": 8,
        "relationships": 7,
        "views": 1,
        "invalid_relationships": 0,
        "problems": 0,
    }
    assert (answer.data["would_be_refused"], answer.data["format"]) == (False, "exchange_xml")
    assert warned(answer) == ["DRY_RUN"]
    assert len(studio.clara.architecture.list_models().data["models"]) == 1


def test_an_exchange_file_comes_in_whole(studio: Studio) -> None:
    answer = done(take(studio, EXCHANGE))
    model = answer.data["model"]
    assert model["name"] == "Corner shop"
    assert answer.data["counts"]["elements_created"] == 8
    assert answer.data["counts"]["relationships_created"] == 7
    found = studio.clara.architecture.get_element(ref="Orders", model_id=model["id"]).data["element"]
    assert found["description"] == "Takes\norders"
    assert found["properties"] == {"Cost": 12, "Note": "note"}
    related = studio.clara.architecture.list_relationships(model_id=model["id"]).data["relationships"]
    told = [(one["type"], one.get("access_type") or one.get("modifier") or one.get("is_directed")) for one in related]
    assert sorted(told, key=str) == [
        ("Access", "ReadWrite"),
        ("Association", None),
        ("Association", True),
        ("Influence", "++"),
        ("Realization", None),
        ("Triggering", None),
        ("Triggering", None),
    ]
    assert studio.clara.office.rebuild(studio.clara.tenant).same


def test_what_comes_in_goes_out_again_and_the_second_time_nothing_changes(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    first = export(studio, model)
    root = ElementTree.fromstring(first)
    assert [child.tag.rpartition("}")[2] for child in root] == [
        *("name", "name", "documentation", "properties", "metadata", "elements", "relationships"),
        *("organizations", "propertyDefinitions", "views"),
    ]
    original = ElementTree.fromstring(EXCHANGE)
    for path in (".//a:element", ".//a:relationship", ".//a:view", ".//a:node", ".//a:connection", ".//a:item"):
        assert _outline(root, path) == _outline(original, path), path
    for path in (".//a:name", ".//a:documentation", ".//a:value", ".//a:label", ".//a:fillColor", ".//a:bendpoint"):
        assert _texts(root, path) == _texts(original, path), path
    assert root.find(".//{http://purl.org/dc/elements/1.1/}creator") is not None
    types = {one.get("identifier"): one.get("type") for one in root.iterfind(".//a:propertyDefinition", NS)}
    assert types == {"p-owner": "string", "p-cost": "number", "p-note": "string"}
    there = elsewhere(studio)
    again = done(take(studio, first, there)).data["model"]["id"]
    assert export(studio, again, there) == first


def _outline(root: ElementTree.Element, path: str) -> list[Any]:
    return sorted(sorted(one.attrib.items()) for one in root.iterfind(path, NS))


def _texts(root: ElementTree.Element, path: str) -> list[Any]:
    return sorted((" ".join((one.text or "").split()), sorted(one.attrib.items())) for one in root.iterfind(path, NS))


def test_importing_into_the_same_model_again_brings_it_up_to_date(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    same = done(take(studio, EXCHANGE, model_id=model))
    assert same.message_key == "NO_EFFECT"
    assert same.data["counts"]["unchanged"] == 16
    orders = studio.clara.architecture.get_element(ref="Orders", model_id=model).data["element"]
    done(studio.clara.architecture.update_element(id=orders["id"], properties={"team": "A"}))
    changed = EXCHANGE.replace("<value>12</value>", "<value>13</value>").replace(">offers<", ">provides<")
    answer = done(take(studio, changed, model_id=model))
    assert (answer.data["counts"]["elements_updated"], answer.data["counts"]["relationships_updated"]) == (1, 1)
    after = studio.clara.architecture.get_element(id=orders["id"]).data["element"]
    assert after["properties"] == {"Cost": 13, "Note": "note", "team": "A"}


def test_a_relationship_that_moved_in_the_file_moves_in_the_model(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    moved = EXCHANGE.replace(
        'identifier="r-1" source="e-orders" target="e-ordering"', 'identifier="r-1" source="e-orders" target="e-order"'
    )
    moved = moved.replace('target="e-order" xsi:type="Realization"', 'target="e-order" xsi:type="Access"')
    answer = done(take(studio, moved, model_id=model))
    # r-7 is tied to r-1, so it moves along.
    assert answer.data["counts"]["relationships_created"] == 2
    related = studio.clara.architecture.list_relationships(model_id=model).data["relationships"]
    assert sorted(one["type"] for one in related) == [
        *("Access", "Access", "Association", "Association", "Influence", "Triggering", "Triggering"),
    ]
    root = ElementTree.fromstring(export(studio, model))
    ends = {
        one.get("identifier"): (one.get("source"), one.get("target")) for one in root.iterfind(".//a:relationship", NS)
    }
    assert ends["r-1"] == ("e-orders", "e-order")
    assert ends["r-7"] == ("e-goal", "r-1")
    assert studio.clara.office.rebuild(studio.clara.tenant).same


def test_an_element_that_changed_its_type_in_the_file_is_refused(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    changed = EXCHANGE.replace('"e-order" xsi:type="DataObject"', '"e-order" xsi:type="BusinessObject"')
    assert errors(take(studio, changed, model_id=model, on_invalid="skip")) == {"content": "VALIDATION_ERROR"}


def test_a_file_that_came_from_here_finds_its_own_again(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    studio.relate("Realization", orders, service)
    text = export(studio, "default").replace("<name>Orders</name>", "<name>Sales</name>")
    answer = done(take(studio, text, model_id="default"))
    assert answer.data["counts"]["elements_updated"] == 1
    assert answer.data["counts"]["elements_created"] == answer.data["counts"]["relationships_created"] == 0
    assert studio.clara.architecture.get_element(id=orders["id"]).data["element"]["name"] == "Sales"
    archi = done(take(studio, ARCHI)).data["model"]["id"]
    again = done(take(studio, export(studio, archi), model_id=archi))
    assert again.data["counts"]["elements_created"] == again.data["counts"]["relationships_created"] == 0


def test_what_was_changed_since_goes_out_as_it_is_now(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    find = studio.clara.architecture.get_element
    orders = find(ref="Orders", model_id=model).data["element"]
    studio.clara.architecture.update_element(id=orders["id"], name="Sales")
    studio.delete(find(ref="Order", model_id=model).data["element"])
    new = studio.element("Fresh", model_id=model, properties={"Cost": 3, "cloud": True})
    root = ElementTree.fromstring(export(studio, model))
    told = {
        one.get("identifier"): [name.text for name in one.iterfind("a:name", NS)]
        for one in root.iterfind(".//a:element", NS)
    }
    assert told["e-orders"] == ["Sales"]
    assert "e-order" not in told
    assert told[new["id"]] == ["Fresh"]
    assert [one.get("identifier") for one in root.iterfind(".//a:node", NS)] == ["n-1", "n-2", "n-4"]
    assert [one.get("identifier") for one in root.iterfind(".//a:connection", NS)] == ["c-1"]
    identifiers = [one.get("identifier") for one in root.iter() if one.get("identifier")]
    assert len(identifiers) == len(set(identifiers))


def test_a_view_that_came_in_can_be_looked_at(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    (view,) = done(studio.clara.architecture.list_views(model_id=model)).data["views"]
    assert view["name"] == "Main"
    assert done(studio.clara.architecture.get_view(model_id=model)).data["stored_views"] == [view]
    graph = done(studio.clara.architecture.get_view(view_id=view["id"])).data
    assert sorted(one["name"] for one in graph["elements"]) == ["Order", "Ordering", "Orders"]
    assert sorted(one["type"] for one in graph["relationships"]) == ["Access", "Realization"]
    picture = studio.clara.architecture.get_view(view_id=view["id"], format="svg").data["view"]["text"]
    places = {one.get("x") for one in ElementTree.fromstring(picture).iter() if one.tag.endswith("rect")}
    assert places == {"10", "20", "200"}
    assert export(studio, model, format="svg", view_id=view["id"]) == picture
    assert export(studio, model, format="svg", view_id="main") == picture
    assert export(studio, model, format="mermaid").startswith("flowchart LR")
    refused = studio.clara.architecture.export_model(model_id=model, view_id=view["id"])
    assert errors(refused) == {"view_id": "VALIDATION_ERROR"}


def test_a_picture_of_a_view_is_what_was_drawn(studio: Studio) -> None:
    painted = EXCHANGE.replace(
        '<node identifier="n-4" xsi:type="Label" x="200" y="100" w="80" h="20"><label>Hello</label></node>',
        '<node identifier="n-4" xsi:type="Label" x="200" y="100" w="80" h="40"><label>Hello &lt;you&gt;\nthere</label>'
        '<style><font><color r="255" g="0" b="0"/></font></style></node>'
        '<node identifier="n-5" elementRef="e-orders" xsi:type="Element" x="300" y="300" w="60" h="30"/>',
    )
    painted = painted.replace(
        '<bendpoint x="150" y="40"/>',
        '<style lineWidth="2"><lineColor r="0" g="0" b="255"/></style><bendpoint x="150" y="140"/>',
    )
    model = done(take(studio, painted)).data["model"]["id"]
    root = ElementTree.fromstring(export(studio, model, format="svg", view_id="Main"))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [(one.get("x"), one.get("y"), one.get("fill")) for one in root.iter(f"{space}rect")]
    assert boxes == [
        *(("10", "10", "#b5ffff"), ("20", "20", "#b5ffff"), ("200", "10", "#b5ffff")),
        *(("200", "100", "#ffffff"), ("300", "300", "#b5ffff")),
    ]
    assert [one.text for one in root.iter(f"{space}text") if one.get("fill") == "#ff0000"] == ["Hello <you>", "there"]
    bent, straight = root.iter(f"{space}polyline")
    assert "150.0,140.0" in str(bent.get("points"))
    assert (bent.get("stroke"), bent.get("stroke-width")) == ("#0000ff", "2")
    assert len(str(straight.get("points")).split()) == 2
    studio.delete(studio.clara.architecture.get_element(ref="Ordering", model_id=model).data["element"])
    left = ElementTree.fromstring(export(studio, model, format="svg", view_id="Main"))
    assert len(list(left.iter(f"{space}rect"))) == 4
    assert list(left.iter(f"{space}polyline")) == []


def test_a_view_is_known_by_its_name_in_its_model(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    (view,) = done(studio.clara.architecture.list_views(model_id=model)).data["views"]
    by_id, by_name = (studio.clara.architecture.get_view(view_id=one, model_id=model) for one in (view["id"], "MAIN"))
    assert done(by_name).data == done(by_id).data
    elsewhere = studio.clara.architecture.get_view(view_id="Main")
    assert (elsewhere.message_key, errors(elsewhere)) == ("RECORD_NOT_FOUND", {"view_id": "RECORD_NOT_FOUND"})
    unknown = studio.clara.architecture.get_view(view_id="Man", model_id=model)
    assert unknown.data["suggestions"]["available_views"] == [view]
    twin = EXCHANGE.replace('identifier="v-1"', 'identifier="v-2"')
    assert twin != EXCHANGE
    done(take(studio, twin, model_id=model))
    ambiguous = studio.clara.architecture.get_view(view_id="Main", model_id=model)
    assert errors(ambiguous) == {"view_id": "NEEDS_DISAMBIGUATION"}
    assert len(ambiguous.data["suggestions"]["candidates"]) == 2


def test_a_view_is_only_in_its_own_model(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    (view,) = done(studio.clara.architecture.list_views(model_id=model)).data["views"]
    for ask in (studio.clara.architecture.get_view, studio.clara.architecture.export_model):
        wish = {"view_id": view["id"], "format": "svg"}
        assert done(ask(**wish)).data == done(ask(**wish, model_id=model)).data
        elsewhere = ask(**wish, model_id="default")
        assert errors(elsewhere) == {"view_id": "RECORD_NOT_FOUND"}
        assert elsewhere.data["suggestions"]["available_views"] == []
        assert errors(ask(**wish, model_id="model_nowhere")) == {"model_id": "MODEL_NOT_FOUND"}


def test_a_name_that_nobody_sees_is_none_in_a_file_either(studio: Studio) -> None:
    unseen = EXCHANGE.replace(">Orders</name>", ">\u200b\u2060</name>")
    assert unseen != EXCHANGE
    assert errors(take(studio, unseen)) == {"content": "VALIDATION_ERROR"}
    for name in ("\u200b", " ", "bell\x07"):
        assert errors(take(studio, EXCHANGE, model_name=name)) == {"model_name": "VALIDATION_ERROR"}


def test_archis_own_file_comes_in_with_its_views(studio: Studio) -> None:
    answer = done(take(studio, ARCHI))
    model = answer.data["model"]["id"]
    assert (answer.data["format"], answer.data["model"]["name"]) == ("archimate", "Corner shop")
    orders = studio.clara.architecture.get_element(ref="Orders", model_id=model).data["element"]
    assert orders["properties"] == {"team": "A\nB", "specialization": "Microservice"}
    related = studio.clara.architecture.list_relationships(model_id=model).data["relationships"]
    assert sorted(one["access_type"] for one in related if one["type"] == "Access") == ["Read", "Write"]
    kinds = [one["type"] for one in studio.clara.architecture.list_elements(model_id=model).data["elements"]]
    assert {"AndJunction", "OrJunction"} <= set(kinds)
    root = ElementTree.fromstring(export(studio, model))
    nodes = {
        one.get("identifier"): (one.get("x"), one.get("y"), one.get(XSI)) for one in root.iterfind(".//a:node", NS)
    }
    assert nodes == {
        "d0": ("100", "50", "Container"),
        "d1": ("110", "60", "Element"),
        "d2": ("500", "50", "Element"),
        "d3": ("5", "5", "Label"),
    }
    assert {one.get("identifier") for one in root.iterfind(".//a:element", NS)} == {f"id-{n}" for n in range(1, 6)}
    assert [one.get("relationshipRef") for one in root.iterfind(".//a:connection", NS)] == ["r2"]


def test_archis_zipped_file_comes_in_too(studio: Studio) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.xml", ARCHI)
        archive.writestr("images/logo.png", b"png")
    answer = done(take(studio, b64encode(target.getvalue()).decode()))
    assert answer.data["counts"]["elements_created"] == 5


def test_a_file_that_was_uploaded_comes_in_by_its_hash(offices: Offices) -> None:
    kept = {"abc": EXCHANGE.encode()}
    studio = Studio(offices, Ways(content=lambda reader, content_hash: kept[content_hash]))
    answer = done(studio.clara.architecture.import_model(content_hash="abc", mode="commit"))
    assert answer.data["counts"]["elements_created"] == 8


def test_csv_goes_out_and_comes_in_again(studio: Studio) -> None:
    model = done(take(studio, EXCHANGE)).data["model"]["id"]
    files = done(studio.clara.architecture.export_model(model_id=model, format="archi_csv")).data["files"]
    lines = files["elements.csv"].split("\r\n")
    assert lines[0] == '"ID","Type","Name","Documentation","Specialization"'
    assert lines[1].startswith('"model-1","ArchimateModel","Corner shop"')
    assert '"e-both","Junction","",""' in files["elements.csv"]
    assert '"r-1","RealizationRelationship","offers","","e-orders","e-ordering",""' in files["relations.csv"]
    assert '"r-2","Access_Type","ReadWrite"' in files["properties.csv"]
    call = {"files": dict(files), "mode": "commit"}
    again = done(studio.clara.architecture.import_model(**call))
    other = again.data["model"]["id"]
    assert names(studio, other) == names(studio, model)
    back = done(studio.clara.architecture.export_model(model_id=other, format="archi_csv")).data["files"]
    assert back["relations.csv"] == files["relations.csv"]
    assert back["properties.csv"] == files["properties.csv"]


def test_a_profile_survives_the_way_out_and_in(studio: Studio) -> None:
    profile = {"owner": "Ada", "criticality": "High", "lifecycle": "Active"}
    done(studio.clara.architecture.create_capability(name="Sell", profile=profile))
    text = export(studio, "default")
    model = done(take(studio, text)).data["model"]["id"]
    found = studio.clara.architecture.get_element(ref="Sell", model_id=model).data["element"]
    assert (found["profile"], found["properties"]) == (profile, {})


def test_relationships_that_the_metamodel_does_not_know_are_listed_and_refused_or_left_out(studio: Studio) -> None:
    content = exchange(
        "<elements>"
        + element("c", "Capability", "Sell")
        + element("a", "ApplicationComponent", "Shop")
        + element("n", "Meaning", "Why")
        + "</elements><relationships>"
        '<relationship identifier="bad" source="c" target="a" xsi:type="Realization"/>'
        '<relationship identifier="good" source="a" target="c" xsi:type="Realization"/>'
        '<relationship identifier="tied" source="n" target="bad" xsi:type="Association"/></relationships>'
    )
    seen = done(studio.clara.architecture.import_model(content=content)).data
    assert seen["would_be_refused"] is True
    (told,) = seen["invalid_relationships"]
    assert (told["id"], told["valid_relationships"]) == ("bad", ["Association"])
    refused = take(studio, content)
    assert refused.message_key == "INVALID_RELATIONSHIP"
    assert validate(studio.clara, "importModel", {"content": content, "mode": "commit"})["valid"] is False
    assert len(studio.clara.architecture.list_models().data["models"]) == 1
    answer = done(take(studio, content, on_invalid="skip"))
    assert answer.data["counts"]["relationships_created"] == 1
    assert answer.data["counts"]["relationships_skipped"] == 2


def test_doubles_are_warned_of(studio: Studio) -> None:
    twice = element("a", "Node", "LAN") + element("b", "Node", "lan")
    answer = done(take(studio, exchange(f"<elements>{twice}</elements>")))
    assert warned(answer) == ["DUPLICATE_NAME"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (
            '<elements><element identifier="x" xsi:type="Robot"><name>R</name></element></elements>',
            "INVALID_ELEMENT_TYPE",
        ),
        ('<elements><element identifier="x"><name>R</name></element></elements>', "INVALID_ELEMENT_TYPE"),
        (f"<elements>{element('a', 'Node', 'A')}{element('a', 'Node', 'B')}</elements>", "VALIDATION_ERROR"),
        (f"<elements>{element('a', 'Node', '')}</elements>", "VALIDATION_ERROR"),
        (f"<elements>{element('a', 'Node', 'x' * 300)}</elements>", "VALIDATION_ERROR"),
        (
            f"<elements>{element('a', 'Node', 'A')}</elements><relationships>"
            '<relationship identifier="r" source="a" target="z" xsi:type="Flow"/></relationships>',
            "ELEMENT_NOT_FOUND",
        ),
        (
            '<views><diagrams><view identifier="v" xsi:type="Diagram"><name>V</name><node identifier="n"'
            ' elementRef="z" xsi:type="Element" x="1" y="1" w="1" h="1"/></view></diagrams></views>',
            "ELEMENT_NOT_FOUND",
        ),
    ],
)
def test_a_broken_file_is_refused_and_nothing_is_made(studio: Studio, body: str, code: str) -> None:
    assert take(studio, exchange(body)).message_key == code
    assert done(studio.clara.architecture.import_model(content=exchange(body))).data["would_be_refused"] is True
    assert len(studio.clara.architecture.list_models().data["models"]) == 1
    assert studio.clara.record.read_facts().data["facts"] == []


BOMB = "<!DOCTYPE l [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9)
)
HOSTILE = {
    "many laughs": BOMB + "]><l>&j;</l>",
    "a file of ours": '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><l>&x;</l>',
    "a request of ours": '<!DOCTYPE l SYSTEM "http://127.0.0.1:9/x.dtd"><l/>',
    "parameters": '<!DOCTYPE l [<!ENTITY % p SYSTEM "http://127.0.0.1:9/"> %p;]><l/>',
    "a plain document type": "<!DOCTYPE model><model/>",
    "depth": "<a>" * (MOST_DEPTH + 5) + "</a>" * (MOST_DEPTH + 5),
}


@pytest.mark.requirement("REL-10")
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("format", ["exchange_xml", "archimate"])
def test_hostile_xml_is_refused(content: str, format: str, tmp_path: Any) -> None:
    from engross.domains.architecture import architecture
    from engross.surfaces.client import connect

    with connect(tmp_path, architecture()) as office:
        answer = office.architecture.import_model(content=content, format=format, mode="commit")
        assert answer.message_key == "IMPORT_UNSAFE"
        assert len(office.architecture.list_models().data["models"]) == 1


def _zip(**entries: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("_", "."), content)
    return target.getvalue()


@pytest.mark.requirement("REL-10")
def test_hostile_archives_are_refused() -> None:
    def refused(content: bytes) -> str:
        with pytest.raises(Invalid) as told:
            unzipped(content)
        return str(told.value).partition(" ")[2]

    assert refused(_zip(model_xml=b"<a>" + b" " * 30_000_000)) == "IMPORT_UNSAFE"
    assert refused(_zip(other_xml=b"<a/>")) == "IMPORT_UNREADABLE"
    whole = _zip(model_xml=b"<a>" + bytes(range(32, 127)) * 50)
    assert refused(whole[:60]) == "IMPORT_UNREADABLE"
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[whole.rindex(b"PK\x01\x02") + 8] |= 1
    assert refused(bytes(encrypted)) == "IMPORT_UNSAFE"
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("model.xml", b"<a/>")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("model.xml", b"<b/>")
    assert refused(twice.getvalue()) == "IMPORT_UNREADABLE"


@pytest.mark.requirement("REL-07")
@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(0, len(EXCHANGE)), st.integers(0, 200))
def test_no_file_makes_the_reader_crash(noise: bytes, start: int, length: int) -> None:
    whole = EXCHANGE.encode()
    for content in (noise, whole[:start] + noise + whole[start + length :], whole[:start]):
        assert _read(content) in ("exchange_xml", "IMPORT_UNREADABLE", "IMPORT_UNSAFE")


def _read(content: bytes) -> str:
    try:
        return read_exchange(content).format
    except Invalid as refused:
        return str(refused).partition(" ")[2]


@pytest.mark.requirement("REL-07")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), min_size=1, max_size=4),
    st.dictionaries(st.text("ab, %é", min_size=1, max_size=4), st.text(max_size=6), max_size=3),
)
def test_whatever_is_written_reads_back_the_same(studio: Studio, told: list[str], properties: dict[str, str]) -> None:
    clean = [" ".join("".join(letter for letter in name if letter.isprintable()).split()) for name in told]
    here, there = (elsewhere(studio, f"{place}{next(NUMBERS)}") for place in ("here", "there"))
    for name in filter(None, clean):
        answer = here.architecture.create_element(type="Node", name=name, description=name, properties=properties)
        assert answer.ok or answer.reply_type == "I"
    first = export(studio, "default", here)
    again = done(take(studio, first, there, model_id="default")).data["model"]["id"]
    assert export(studio, again, there) == first


def test_an_import_is_unreadable_when_it_is_something_else(studio: Studio) -> None:
    for content in ("", "plain text", "<a", "\x01", '<model xmlns="urn:other"/>'):
        answer = studio.clara.architecture.import_model(content=content or " ", mode="commit")
        assert answer.message_key == "IMPORT_UNREADABLE"
    assert errors(studio.clara.architecture.import_model(mode="commit")) == {"content": "VALIDATION_ERROR"}
    assert errors(studio.clara.architecture.import_model(files={"a.csv": "x"})) == {"files": "IMPORT_UNREADABLE"}
    assert errors(studio.clara.architecture.import_model(files={"elements.csv": "x"})) == {"files": "IMPORT_UNREADABLE"}
    assert studio.clara.architecture.import_model(content=EXCHANGE, model_id="model_x").message_key == "MODEL_NOT_FOUND"


def test_an_agents_import_becomes_a_proposal(studio: Studio) -> None:
    answer = done(studio.scout.architecture.import_model(content=ARCHI, mode="commit"))
    assert answer.data["status"] == "proposed"
    assert len(studio.clara.architecture.list_models().data["models"]) == 1
    proposal = answer.data["proposal"]["id"]
    token = studio.clara.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    done(studio.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token))
    assert names(studio, answer.data["model"]["id"]) != []
