"""Every case of the reference: the core byte for byte, the errors with their codes, the contested without loss."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from engross.octave import OctaveError, eject, emit, parse, same

from .cases import ALL, Case, of_tier

WORDS = re.compile(r"[A-Za-z0-9]+")


def named(case: Case) -> str:
    return case.name


def words(text: str) -> Counter[str]:
    return Counter(WORDS.findall(text))


def test_all_cases_are_there() -> None:
    assert Counter(case.tier.split("_")[0] for case in ALL) == {"core": 53, "error": 15, "contested": 22}


@pytest.mark.requirement("DOC-09", "DOC-15")
@pytest.mark.parametrize("case", of_tier("core"), ids=named)
def test_a_core_case_has_the_same_canonical_text(case: Case) -> None:
    assert emit(parse(case.text)) == case.canonical


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize("case", [case for case in of_tier("core") if case.data is not None], ids=named)
def test_a_core_case_has_the_same_json(case: Case) -> None:
    output = eject(case.text, format="json").output
    assert json.loads(output) == json.loads(case.data)
    assert output == case.data


@pytest.mark.parametrize("case", of_tier("error"), ids=named)
def test_an_error_case_has_its_code_and_its_place(case: Case) -> None:
    with pytest.raises(OctaveError) as caught:
        parse(case.text)
    assert caught.value.code == case.code
    assert caught.value.line is not None
    assert caught.value.column is not None
    assert caught.value.hint


def readable(case: Case) -> bool:
    try:
        parse(case.text)
    except OctaveError:
        return False
    return True


@pytest.mark.requirement("DOC-15")
@pytest.mark.parametrize("case", [case for case in of_tier("contested") if readable(case)], ids=named)
def test_a_contested_case_that_is_read_keeps_every_word(case: Case) -> None:
    document = parse(case.text)
    assert words(case.text) - words(emit(document)) == Counter()
    assert same(parse(emit(document)), document)


@pytest.mark.parametrize("case", [case for case in of_tier("contested") if not readable(case)], ids=named)
def test_a_contested_case_that_is_refused_says_why_and_where(case: Case) -> None:
    with pytest.raises(OctaveError) as caught:
        parse(case.text)
    assert caught.value.line is not None
    assert caught.value.hint


@pytest.mark.requirement("DOC-10")
@pytest.mark.parametrize("case", [case for case in ALL if readable(case)], ids=named)
def test_what_is_written_differently_has_a_receipt(case: Case) -> None:
    document = parse(case.text)
    assert bool(document.receipts) == (emit(document) != case.text)
