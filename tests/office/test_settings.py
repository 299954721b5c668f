"""Settings: from code, from the environment, and refused where they make no sense."""

import pytest

from engross.office import Settings
from engross.replies import Failed, codes


@pytest.mark.parametrize("name", ["unit_seconds", "call_seconds", "most_body_bytes"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_span_or_a_size_that_is_not_above_zero_is_refused(name: str, value: int) -> None:
    with pytest.raises(Failed) as raised:
        Settings.from_environment(**{name: value})
    assert raised.value.code == codes.CONFIG_INVALID
    assert raised.value.data is not None
    assert raised.value.data["setting"] == name


@pytest.mark.parametrize("text", ["-1", "0", "nan", "soon"])
def test_the_environment_is_held_to_the_same(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ENGROSS_CALL_SECONDS", text)
    with pytest.raises(Failed):
        Settings.from_environment()


def test_what_is_given_in_code_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGROSS_CALL_SECONDS", "7")
    assert Settings.from_environment().call_seconds == 7
    assert Settings.from_environment(call_seconds=3).call_seconds == 3
