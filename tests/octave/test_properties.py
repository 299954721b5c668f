"""What holds for every document and every text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engross.octave import (
    ABSENT,
    DELETE,
    Assignment,
    Comment,
    Document,
    OctaveError,
    Receipt,
    apply_changes,
    copied,
    eject,
    emit,
    faithful,
    find,
    parse,
    paths,
    read_json,
    read_yaml,
    same,
    value_at,
)
from engross.octave import parser as parser_module

from .documents import ANY_TEXT, documents

UNCHECKED = [HealthCheck.too_slow, HealthCheck.filter_too_much]
LONG = settings(max_examples=40, suppress_health_check=UNCHECKED, deadline=None)


def read(text: str) -> Document | None:
    try:
        return parse(text)
    except OctaveError:
        return None


def settled(document: Document) -> Document:
    """The document as a reader finds it; a comment at the margin may end the block above it."""
    return parse(emit(document), lenient=True)


@pytest.mark.requirement("DOC-09", "DOC-15", "REL-07")
@given(documents())
@LONG
def test_canonical_text_is_a_fixed_point(document: Document) -> None:
    once = emit(settled(document))
    assert emit(parse(once, lenient=True)) == once


@pytest.mark.requirement("DOC-15", "REL-07")
@given(documents())
@LONG
def test_reading_what_was_written_gives_the_same_document(document: Document) -> None:
    once = settled(document)
    assert same(parse(emit(once), lenient=True), once)
    assert faithful(once) == emit(once)
    assert parse(emit(once), lenient=True).receipts == []


@pytest.mark.requirement("DOC-15")
@given(documents())
@LONG
def test_every_value_survives_being_written(document: Document) -> None:
    def values(one: Document) -> list[str]:
        return sorted(repr(node.value) for node in one.walk() if isinstance(node, Assignment))

    assert values(settled(document)) == values(document)


@pytest.mark.requirement("DOC-15", "REL-07")
@given(ANY_TEXT)
@LONG
def test_any_text_is_read_or_refused_and_never_crashes(text: str) -> None:
    document = read(text)
    if document is not None:
        assert same(parse(emit(document)), document)


@pytest.mark.requirement("REL-07")
@given(st.binary(max_size=60))
@LONG
def test_any_bytes_are_read_or_refused_and_never_crash(data: bytes) -> None:
    try:
        document = parse(data)
    except OctaveError as error:
        assert error.code  # noqa: PT017
    else:
        assert same(parse(emit(document)), document)


@pytest.mark.requirement("DOC-10", "DOC-15")
@given(ANY_TEXT)
@LONG
def test_there_are_receipts_exactly_when_the_text_was_not_canonical(text: str) -> None:
    document = read(text)
    assume(document is not None)
    assert document is not None
    assert bool(document.receipts) == (emit(document) != text)


@pytest.fixture
def slowly() -> Iterator[pytest.MonkeyPatch]:
    """Lets a test switch the quick ways of the parser off."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def without_short_cuts(text: str, patch: pytest.MonkeyPatch) -> Document | OctaveError:
    never = re.compile(r"(?!)")
    with patch.context() as inner:
        inner.setattr(parser_module, "PLAIN", never)
        inner.setattr(parser_module, "NEARLY_PLAIN", never)
        return outcome(text)


def outcome(text: str) -> Document | OctaveError:
    try:
        return parse(text)
    except OctaveError as error:
        return error


def sorted_receipts(document: Document) -> list[Receipt]:
    return sorted(document.receipts)


@given(text=ANY_TEXT)
@settings(LONG, suppress_health_check=[*UNCHECKED, HealthCheck.function_scoped_fixture])
def test_the_short_cuts_read_what_the_long_way_reads(text: str, slowly: pytest.MonkeyPatch) -> None:
    quick, slow = outcome(text), without_short_cuts(text, slowly)
    if isinstance(quick, Document):
        assert isinstance(slow, Document)
        assert same(quick, slow)
        assert sorted_receipts(quick) == sorted_receipts(slow)
        assert [node.line for node in quick.walk()] == [node.line for node in slow.walk()]
    else:
        assert isinstance(slow, OctaveError)
        assert (quick.code, quick.line, quick.column) == (slow.code, slow.line, slow.column)


def untouched(document: Document, path: str) -> list[str]:
    """Everything that stands elsewhere."""
    told = []
    for at, node in paths(document):
        if at != path and not at.startswith(f"{path}.") and isinstance(node, Assignment):
            told.append(f"{at} {node!r} {node.comment} {node.note}")
    return told + [node.text for node in document.walk() if isinstance(node, Comment)]


@pytest.mark.requirement("DOC-05", "DOC-06", "DOC-15")
@given(documents(), st.data())
@LONG
def test_a_change_changes_its_field_and_nothing_else(document: Document, data: st.DataObject) -> None:
    document = settled(document)
    before = emit(document)
    times = Counter(path for path, _ in paths(document))
    once = [path for path, node in paths(document) if isinstance(node, Assignment) and node.key and times[path] == 1]
    plain = [path for path in once if find(document, path.partition(".")[0]) is not None and find(document, path)]
    assume(plain)
    path = data.draw(st.sampled_from(plain))
    given_value = data.draw(st.sampled_from([DELETE, None, "new text", 7, ["a", "b"]]))
    edited = apply_changes(document, {path: given_value}).document
    assert emit(document) == before
    # Comments may move to the block above; nothing else does.
    assert sorted(untouched(edited, path)) == sorted(untouched(document, path))
    if given_value is DELETE:
        assert value_at(edited, path) is ABSENT
    elif given_value is None:
        assert value_at(edited, path) is None


@given(documents())
@LONG
def test_a_copy_is_the_same_and_its_own(document: Document) -> None:
    copy = copied(document)
    assert same(copy, document)
    copy.nodes.append(Comment("more"))
    assert not same(copy, document)
    assert deepcopy(DELETE) is DELETE


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(("format", "reader"), [("json", read_json), ("yaml", read_yaml)])
@given(document=documents())
@LONG
def test_the_authoring_view_reads_back_to_the_same_document(format: str, reader, document: Document) -> None:
    document = settled(document)
    ejected = eject(document, mode="authoring", format=format)
    assert not ejected.lossy
    assert same(reader(ejected.output), document)


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(("format", "reader"), [("json", read_json), ("yaml", read_yaml)])
@given(document=documents())
@LONG
def test_the_data_form_reads_back_unless_it_says_that_something_is_left_out(
    format: str, reader, document: Document
) -> None:
    document = settled(document)
    ejected = eject(document, format=format)
    if not ejected.lossy:
        assert same(reader(ejected.output, ejected.name), document)


@pytest.mark.requirement("DOC-13")
@given(documents())
@LONG
def test_the_authoring_text_reads_back_to_the_same_document(document: Document) -> None:
    document = settled(document)
    assert same(parse(eject(document, mode="authoring").output, lenient=True), document)


@given(documents(), st.sampled_from(["canonical", "executive", "developer"]))
@LONG
def test_every_view_can_be_written_in_every_format(document: Document, mode: str) -> None:
    document = settled(document)
    for format in ("octave", "json", "yaml", "markdown"):
        assert eject(document, mode=mode, format=format).output.strip()


@pytest.mark.faults
@pytest.mark.requirement("REL-07")
def test_a_long_run_of_random_texts_finds_nothing(full_length: bool) -> None:
    @given(ANY_TEXT)
    @settings(LONG, max_examples=100_000 if full_length else 200)
    def run(text: str) -> None:
        document = read(text)
        if document is not None:
            again = parse(emit(document))
            assert same(again, document)
            assert again.receipts == []

    run()
