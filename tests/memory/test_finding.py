"""Finding entities: lists, identifiers, words and duplicates."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engross.domains.memory.ids import entity_id
from tests.bed.offices import Offices
from tests.memory.kept import Library, done
from tests.memory.people import ACME, ACME_ID, JOHN, JOHN_ID, correct, person, tell


@pytest.mark.requirement("MEM-18", "MEM-33", "MEM-40")
def test_entities_are_listed_by_id_in_pages(library: Library):
    tell(library.clara, ACME, JOHN, *({"entity_type": "person", "name": f"P{number}"} for number in range(4)))
    whole = done(library.clara.call("memory.retrieve-entities", {}))
    ids = [one["id"] for one in whole["entities"]]
    assert ids == sorted(ids)
    assert (whole["total"], whole["excluded_merged"]) == (6, True)
    assert set(whole["entities"][0]) >= {
        *("id", "entity_id", "entity_type", "canonical_name", "snapshot", "observation_count", "last_observation_at"),
    }
    people = done(library.clara.call("memory.retrieve-entities", {"entity_type": "person", "limit": 2, "offset": 1}))
    assert [one["id"] for one in people["entities"]] == [one for one in ids if one != ACME_ID][1:3]
    assert people["total"] == 5
    bare = done(library.clara.call("memory.retrieve-entities", {"include_snapshots": False}))
    assert "snapshot" not in bare["entities"][0]
    assert done(library.clara.call("memory.retrieve-entities", {"entity_type": "planet"}))["entities"] == []
    for bad in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"entity_type": ""}, {"include_merged": "yes"}):
        assert library.clara.call("memory.retrieve-entities", bad).message_key == "VALIDATION_ERROR"


def found(library: Library, identifier: str, **more: str) -> tuple[list[str], str]:
    answer = done(library.clara.call("memory.get-entity-by-identifier", {"identifier": identifier, **more}))
    assert answer["total"] == len(answer["entities"])
    return [one["id"] for one in answer["entities"]], answer["match_mode"]


@pytest.mark.requirement("MEM-19", "MEM-40")
def test_an_identifier_leads_to_its_entity_and_the_answer_says_how(library: Library):
    tell(library.clara, ACME, JOHN, {"entity_type": "person", "name": "Acme Corp"})
    impostor = entity_id("person", "Acme Corp")
    assert found(library, ACME_ID) == ([ACME_ID], "entity_id")
    assert found(library, " ACME  corp. ") == ([ACME_ID], "name")
    assert found(library, "Acme Corp") == (sorted([impostor, ACME_ID]), "name")
    assert found(library, "Acme", entity_type="company") == ([ACME_ID], "name")
    assert found(library, "Acme Corp", entity_type="person") == ([impostor], "name")
    assert found(library, "JOHN@example.COM") == ([JOHN_ID], "field")
    assert found(library, "+1 (555) 0123") == ([JOHN_ID], "field")
    assert found(library, "12 3456789") == ([ACME_ID], "field")
    assert found(library, "https://www.acme.com/about") == ([ACME_ID], "field")
    assert found(library, "john") == ([JOHN_ID], "words")
    assert found(library, "doe jo") == ([JOHN_ID], "words")
    assert found(library, "doe", entity_type="company") == ([], "none")
    assert found(library, "nobody@example.com") == ([], "none")
    correct(library.clara, JOHN_ID, "email", "new@example.com")
    assert found(library, "john@example.com") == ([], "none")
    assert found(library, "new@example.com") == ([JOHN_ID], "field")
    for bad in ("", "   ", "x" * 401):
        answer = library.clara.call("memory.get-entity-by-identifier", {"identifier": bad})
        assert answer.message_key == "VALIDATION_ERROR"


def searched(library: Library, query: str, **more: object) -> list[str]:
    answer = done(library.clara.call("memory.search-memory", {"query": query, **more}))
    assert answer["search_mode"] == "words+names"
    return [one["id"] for one in answer["results"]]


def test_search_finds_by_words_of_any_field_also_misspelled(library: Library):
    tell(
        library.clara,
        ACME,
        {**JOHN, "bio": "Builds wooden boats in Thun", "tags": ["carpenter", "sailor"]},
        {"entity_type": "note", "name": "Boat show", "content": "Meet the carpenter of Thun"},
    )
    note = entity_id("note", "Boat show")
    assert searched(library, "wooden boats")[0] == JOHN_ID
    assert searched(library, "sailor") == [JOHN_ID]
    assert set(searched(library, "carpenter")) == {JOHN_ID, note}
    assert searched(library, "carpentr") == searched(library, "carpenter")
    assert searched(library, "boat show")[0] == note
    assert searched(library, "carpenter", entity_type="person") == [JOHN_ID]
    assert searched(library, "john@example.com")[0] == JOHN_ID
    assert searched(library, "carpenter", limit=1) == searched(library, "carpenter")[:1]
    assert searched(library, "zzz qqq") == []
    assert library.clara.call("memory.search-memory", {"query": " "}).message_key == "VALIDATION_ERROR"
    assert done(library.vera.call("memory.search-memory", {"query": "carpenter"}))["results"] == []


@pytest.mark.parametrize("asked", ["Qentin", "Quntin", "uQentin", "Kuentin", "Quentinn"])
def test_a_letter_may_be_wrong_anywhere_in_a_word(library: Library, asked: str):
    quentin = person(library.clara, "Quentin Marsh", instrument="Xylophone")
    person(library.clara, "Somebody Else")
    assert searched(library, asked) == [quentin]
    assert searched(library, "Zylophone") == [quentin]
    assert searched(library, "mrash xylofone") == [quentin]


def test_an_identifier_leads_before_everything_that_shares_a_word_with_it(library: Library):
    tell(library.clara, {"entity_type": "company", "name": "x"}, {"entity_type": "company", "name": "Guy"})
    guy = person(library.clara, "Somebody", email="p.guy@x.org", phone="+41 79 271 82 81", tax_id="ZX-99881")
    for asked in ("P.Guy@x.org", "+41 (79) 271 82 81", "zx 99881"):
        assert searched(library, asked)[0] == guy
    org = entity_id("company", "Org")
    tell(library.clara, {"entity_type": "company", "name": "Org", "website": "https://x.org"})
    assert searched(library, "P.Guy@x.org")[0] == guy
    assert searched(library, "x.org")[0] == org


def test_numbers_are_searched_when_they_say_something(library: Library):
    tell(
        library.clara,
        {"entity_type": "parcel", "name": "Box", "weight": 4711, "price": 1299.5, "pieces": 7, "fragile": True},
    )
    box = entity_id("parcel", "Box")
    assert searched(library, "4711") == searched(library, "price 1299") == [box]
    assert searched(library, "7") == searched(library, "4712") == searched(library, "1") == []
    correct(library.clara, box, "weight", 815, "parcel")
    assert (searched(library, "4711"), searched(library, "815")) == ([], [box])


class Letters:
    """Embeds a text as the letters it has."""

    name = "letters"
    is_away = False

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        if self.is_away:
            return None
        return [[float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def test_an_embedder_takes_part_and_the_mode_says_so(tmp_path):
    offices = Offices(tmp_path / "office", None)
    letters = Letters()
    library = Library(offices, {"embedder": letters})
    tell(library.clara, ACME, JOHN)
    answer = done(library.clara.call("memory.search-memory", {"query": "doe"}))
    assert answer["search_mode"] == "words+names+embeddings:letters"
    assert answer["results"][0]["id"] == JOHN_ID
    letters.is_away = True
    without = done(library.clara.call("memory.search-memory", {"query": "doe"}))
    assert "+embeddings" not in without["search_mode"]
    assert [one["id"] for one in without["results"]] == [JOHN_ID]
    offices.close()


def test_probable_duplicates_are_ranked_with_reasons(library: Library):
    jane = person(library.clara, "Jane Doe", email="jane@example.com", phone="+1 555 1")
    doctor = person(library.clara, "Dr. Jane Doe", email="Jane@Example.com")
    janet = person(library.clara, "Janet Doe")
    person(library.clara, "Bob", phone="+1 555 2")
    tell(library.clara, {"entity_type": "company", "name": "Jane Doe", "email": "jane@example.com"})
    told = done(library.clara.call("memory.list-duplicate-candidates", {"entity_id": jane}))["candidates"]
    others = [next(one["id"] for one in pair["entities"] if one["id"] != jane) for pair in told]
    assert others[0] == doctor
    assert set(others) <= {doctor, janet}
    assert {one["reason"] for one in told[0]["reasons"]} == {"same_email", "same_name_without_titles", "similar_name"}
    assert told[0]["score"] > 0.8
    assert "jane@example.com" not in str(told[0]["reasons"])
    everywhere = done(library.clara.call("memory.list-duplicate-candidates", {}))["candidates"]
    assert [sorted(one["id"] for one in pair["entities"]) for pair in everywhere] == [sorted([jane, doctor])]
    none = done(library.clara.call("memory.list-duplicate-candidates", {"entity_type": "company"}))
    assert none["candidates"] == []
    bad = library.clara.call("memory.list-duplicate-candidates", {"entity_id": "ent_nobody"})
    assert bad.message_key == "ENTITY_NOT_FOUND"
