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


MISTYPED = {
    "READONLY": "READ_ONLY",
    "READ_ONYL": "READ_ONLY",
    "read_only": "READ_ONLY",
    "LOGLEVEL": "LOG_LEVEL",
    "CAPABILITY": "CAPABILITIES",
    "CALLSECONDS": "CALL_SECONDS",
    "TOKN": "TOKEN",
}


@pytest.mark.parametrize(("written", "meant"), MISTYPED.items(), ids=MISTYPED)
def test_a_variable_that_is_nearly_a_setting_is_refused_with_the_one_that_is_meant(
    monkeypatch: pytest.MonkeyPatch, written: str, meant: str
) -> None:
    monkeypatch.setenv(f"ENGROSS_{written}", "true")
    with pytest.raises(Failed) as raised:
        Settings.from_environment()
    assert raised.value.code == codes.CONFIG_INVALID
    assert raised.value.data is not None
    assert raised.value.data["setting"] == f"ENGROSS_{written}"
    assert raised.value.data["did_you_mean"][0] == f"ENGROSS_{meant}"


OF_OTHERS = [
    *("URL", "KEY", "ROLE", "LOG", "VERSION"),
    *("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8080_TCP", "PORT_8080_TCP_PROTO"),
    *("PORT_8080_TCP_PORT", "PORT_8080_TCP_ADDR", "PORT_53_UDP", "READ_ONLY_PORT", "REDIS_SERVICE_HOST", "REDIS_PORT"),
    *("STORE_PORT_5432_TCP_ADDR", "LOG_LEVEL_SERVICE_PORT_METRICS", "WAREHOUSE"),
]


@pytest.mark.parametrize("name", OF_OTHERS)
def test_what_kubernetes_sets_for_a_service_and_what_resembles_no_setting_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = Settings.from_environment()
    monkeypatch.setenv(f"ENGROSS_{name}", "tcp://10.0.0.1:8080")
    assert Settings.from_environment() == before


def test_the_token_of_a_caller_is_no_setting_and_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Settings.from_environment()
    monkeypatch.setenv("ENGROSS_TOKEN", "egr_x")
    assert Settings.from_environment() == before
