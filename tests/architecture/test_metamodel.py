"""The metamodel agrees with the published table, in every combination."""

from hashlib import sha256
from typing import Any

import orjson
import pytest

from engross.domains.architecture.metamodel import RELATIONSHIP, SOURCE, metamodel

# The digest of all allowed triples, as the table's publisher gives it: sorted lines Source|Type|Target.
ALLOWED_TRIPLES = "d13efa1378b6562925bbae16861d1ca5460ee5fab391932ee1ff9e54f9b4d055"


def raw() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(SOURCE.read_bytes())
    return data


@pytest.mark.requirement("REL-09")
def test_all_39600_combinations_agree_with_the_table() -> None:
    table, asked = raw(), 0
    letters = {name: one["letter"] for name, one in table["relationships"].items()}
    for source, row in table["matrix"].items():
        for target, cell in zip(table["order"], row.split(), strict=True):
            for name, letter in letters.items():
                asked += 1
                assert metamodel().allows(name, source, target) is (letter in cell), (source, name, target)
    assert asked == 39_600


@pytest.mark.requirement("REL-09")
def test_the_allowed_triples_are_those_that_were_published() -> None:
    types = metamodel().element_types
    triples = sorted(
        f"{source}|{name}|{target}"
        for source in types
        for target in types
        for name in metamodel().allowed(source, target)
    )
    assert len(triples) == 10_484 == sum(metamodel().counts.values())
    assert sha256("\n".join(triples).encode()).hexdigest() == ALLOWED_TRIPLES


@pytest.mark.requirement("ARCH-17")
def test_sixty_types_in_seven_layers() -> None:
    sizes = {layer: len(metamodel().types_in(layer)) for layer in metamodel().layers}
    assert sizes == {
        "strategy": 4,
        "business": 13,
        "application": 9,
        "technology": 17,
        "motivation": 10,
        "implementation_migration": 5,
        "other": 2,
    }
    assert sum(sizes.values()) == len(metamodel().element_types) == 60
    assert len(metamodel().relationship_types) == 11


@pytest.mark.requirement("ARCH-20")
def test_the_most_specific_relationship_comes_first_and_association_last() -> None:
    found = metamodel().allowed("ApplicationComponent", "ApplicationService")
    assert found == ("Assignment", "Realization", "Serving", "Triggering", "Flow", "Association")
    assert metamodel().allowed("Capability", "ApplicationComponent") == ("Association",)
    assert "Realization" in metamodel().allowed("ApplicationComponent", "Capability")
    assert "Realization" not in metamodel().allowed("Capability", "ValueStream")
    assert "Serving" in metamodel().allowed("Capability", "ValueStream")


@pytest.mark.requirement("ARCH-17")
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("application component", "ApplicationComponent"),
        ("APPLICATION_COMPONENT", "ApplicationComponent"),
        ("application-component", "ApplicationComponent"),
        ("InfrastructureService", "TechnologyService"),
        ("Network", "CommunicationNetwork"),
        ("or junction", "OrJunction"),
        ("AppComponent", None),
        ("", None),
        (7, None),
    ],
)
def test_a_type_is_understood_in_other_spellings(word: object, meant: str | None) -> None:
    found = metamodel().element_type(word)
    assert (found and found.type) == meant
    assert found is None or not found.spelled_out


def test_a_relationship_type_is_understood_by_its_older_names() -> None:
    for word, name in (("UsedBy", "Serving"), ("realisation", "Realization"), ("FlowRelationship", "Flow")):
        found = metamodel().relationship_type(word)
        assert found is not None
        assert found.type == name


@pytest.mark.requirement("ARCH-19")
def test_what_was_meant_comes_first() -> None:
    assert metamodel().close_element_types("AppComponent")[0] == "ApplicationComponent"
    assert metamodel().close_element_types("BizProcess")[:1] == ["BusinessProcess"]
    assert metamodel().close_relationship_types("Realizes")[0] == "Realization"


@pytest.mark.requirement("ARCH-19")
def test_the_hint_of_a_layer_is_made_from_its_types() -> None:
    assert metamodel().layer_hint("application") == "Application layer types start with 'Application' or 'Data'"
    for layer in metamodel().layers:
        assert metamodel().layer_hint(layer)


def test_junctions_join_only_what_they_may() -> None:
    model = metamodel()
    assert model.allows("Flow", "BusinessProcess", "AndJunction")
    assert model.allows("Flow", "OrJunction", "BusinessProcess")
    assert model.allows("Triggering", "AndJunction", "OrJunction")
    for forbidden in ("Composition", "Aggregation", "Specialization"):
        assert not model.allows(forbidden, "BusinessProcess", "AndJunction")
        assert not model.allows(forbidden, "AndJunction", "BusinessProcess")
    assert model.allows("Aggregation", "Grouping", "AndJunction")
    assert model.allowed("AndJunction", RELATIONSHIP) == ()


def test_a_relationship_can_be_an_end_of_associations_and_a_member_of_groupings() -> None:
    model = metamodel()
    assert model.allowed("BusinessActor", RELATIONSHIP) == ("Association",)
    assert model.allowed("Grouping", RELATIONSHIP) == ("Composition", "Aggregation", "Association")
    assert model.allowed(RELATIONSHIP, "BusinessActor") == ("Association",)
    assert model.allowed(RELATIONSHIP, RELATIONSHIP) == ()


def test_a_metamodel_is_known_by_its_digest() -> None:
    stamp = metamodel().stamp
    assert (stamp["name"], stamp["version"]) == ("ArchiMate", "3.2")
    assert len(stamp["digest"]) == len("sha256:") + 64
