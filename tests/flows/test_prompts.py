"""Words that start a job."""

from typing import Any

import pytest

from engross.flows import Aggregate, Catalogue, FlowDefinitionError, NoArguments, PromptArgument


def library() -> Aggregate:
    aggregate = Aggregate("library", "Library")

    @aggregate.read
    def look(reader: object, arguments: NoArguments) -> dict[str, Any]:
        """Look around."""
        return {}

    @aggregate.record(effect="create")
    def add(unit: object, arguments: NoArguments) -> dict[str, Any]:
        """Add something."""
        return {}

    return aggregate


def test_a_text_becomes_one_message_of_the_person() -> None:
    aggregate = library()
    aggregate.prompt("recommend", "Recommend.", {"taste": "What you like."}, text="I like {taste}. {taste}!")
    prompt = Catalogue([aggregate]).prompt("recommend")
    assert prompt is not None
    assert prompt.filled({"taste": "{taste}"}) == [
        {"role": "user", "content": {"type": "text", "text": "I like {taste}. {taste}!"}}
    ]
    assert prompt.arguments == (PromptArgument("taste", "What you like."),)


def test_every_text_inside_messages_is_filled_in_and_nothing_else() -> None:
    aggregate = library()
    messages = [
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "{uri}", "size": 3, "list": ["{uri}"]}}},
        {"role": "assistant", "content": {"type": "text", "text": "none"}},
    ]
    aggregate.prompt("embed", "Embed.", [PromptArgument("uri", "Which.", required=False)], messages=messages)
    prompt = Catalogue([aggregate]).prompt("embed")
    assert prompt is not None
    resource = prompt.filled({"uri": "a://b"})[0]["content"]["resource"]
    assert resource == {"uri": "a://b", "size": 3, "list": ["a://b"]}
    assert prompt.filled({})[0]["content"]["resource"]["uri"] == ""


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"text": "a", "messages": []},
        {"text": "a", "flow": "library.look"},
    ],
)
def test_a_prompt_says_one_thing(said: dict[str, Any]) -> None:
    with pytest.raises(FlowDefinitionError):
        library().prompt("recommend", "Recommend.", **said)


def test_a_prompt_has_a_name_that_clients_take() -> None:
    with pytest.raises(FlowDefinitionError):
        library().prompt("re commend", "Recommend.", text="a")


@pytest.mark.parametrize(
    "said",
    [
        {"text": "I like {tast}."},
        {"text": "a", "needs": ["library.lose"]},
        {"flow": "library.lose"},
        {"flow": "library.add"},
    ],
)
def test_a_prompt_that_cannot_work_is_refused_when_the_catalogue_is_built(said: dict[str, Any]) -> None:
    aggregate = library()
    aggregate.prompt("recommend", "Recommend.", {"taste": "What you like."}, **said)
    with pytest.raises(FlowDefinitionError) as refused:
        Catalogue([aggregate])
    assert len(refused.value.complaints) == 1


def test_two_prompts_of_one_name_are_refused() -> None:
    aggregate = library()
    aggregate.prompt("recommend", "Recommend.", text="a")
    aggregate.prompt("recommend", "Recommend.", text="b")
    with pytest.raises(FlowDefinitionError):
        Catalogue([aggregate])
    assert Catalogue([library()]).prompt("recommend") is None
