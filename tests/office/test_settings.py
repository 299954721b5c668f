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


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("ENGROSS_CALL_SECONDS", "soon", "a number"),
        ("ENGROSS_MOST_BODY_BYTES", "1.5", "a whole number"),
        ("ENGROSS_READ_ONLY", "perhaps", "true or false"),
    ],
)
def test_what_a_variable_takes_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, expected: str
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(Failed) as raised:
        Settings.from_environment()
    assert raised.value.data == {"setting": variable, "expected": expected}


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


@pytest.mark.parametrize(
    "store",
    [
        *("foo", "office.db", "host=db password=secret", "mysql://u:secret@x/y", "Postgresql://u:secret@x/y", ""),
        *("postgresql:/x", "localhost:5432/office", " postgresql://x"),
    ],
)
@pytest.mark.parametrize("is_given", [True, False], ids=["given", "in the environment"])
def test_a_store_that_is_no_postgresql_address_is_refused_and_what_was_given_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, store: str, is_given: bool
) -> None:
    if not is_given:
        monkeypatch.setenv("ENGROSS_STORE", store)
    with pytest.raises(Failed) as raised:
        Settings.from_environment(store=store if is_given else None)
    assert (raised.value.code, raised.value.params) == (codes.CONFIG_INVALID, {"setting": "store"})
    assert raised.value.data is not None
    assert "postgresql://" in raised.value.data["hint"]
    assert "secret" not in str(raised.value.data)


@pytest.mark.parametrize("redis", ["memcached://u:secret@x", "127.0.0.1:6379", "", "unix:///x", "redis:/x"])
def test_a_redis_that_is_no_redis_address_is_refused_and_what_was_given_is_not_repeated(redis: str) -> None:
    with pytest.raises(Failed) as raised:
        Settings.from_environment(redis=redis)
    assert (raised.value.code, raised.value.params) == (codes.CONFIG_INVALID, {"setting": "redis"})
    assert raised.value.data is not None
    assert "redis://" in raised.value.data["hint"]
    assert "secret" not in str(raised.value.data)


@pytest.mark.parametrize("store", ["postgresql://u:p@x:5432/office", "postgres:///office"])
def test_a_postgresql_address_is_where_the_rows_are(store: str) -> None:
    assert Settings.from_environment(store=store).location == store
