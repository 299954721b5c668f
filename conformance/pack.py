"""The conformance pack: the tools, prompts and resources that the published MCP conformance suite expects of a server.

They are flows like any other. The suite calls them by name and says in its own sources what each must do; here is how a
flow does it: content beside its fields, progress, remarks, questions to the client, in one round or several.
"""

import wave
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import Annotated, Any

from typing_extensions import TypedDict

from engross.calls import Question, ask, can_ask, remark, report
from engross.flows import Aggregate, Described, NoArguments, PromptArgument
from engross.replies import Invalid, codes

Answer = Mapping[str, Any]
Block = dict[str, Any]


def silence() -> str:
    """A tenth of a second of nothing, as a WAV file."""
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", "not compressed"))
        sound.writeframes(b"\x80" * 800)
    return b64encode(file.getvalue()).decode()


RED_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
IMAGE: Block = {"type": "image", "data": RED_PIXEL, "mimeType": "image/png"}
AUDIO: Block = {"type": "audio", "data": silence(), "mimeType": "audio/wav"}

pack = Aggregate("conformance", "Conformance pack", naming="snake")


def text(words: str) -> Block:
    """A block of text."""
    return {"type": "text", "text": words}


def embedded(uri: str, mime_type: str, words: str) -> Block:
    """A block that holds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


# Content


@pack.read(content=True)
def test_simple_text(reader: Any, arguments: NoArguments) -> Answer:
    """Answer with text."""
    return {"content": [text("This is a simple text response for testing.")]}


@pack.read(content=True)
def test_image_content(reader: Any, arguments: NoArguments) -> Answer:
    """Answer with an image."""
    return {"content": [IMAGE]}


@pack.read(content=True)
def test_audio_content(reader: Any, arguments: NoArguments) -> Answer:
    """Answer with a sound."""
    return {"content": [AUDIO]}


@pack.read(content=True)
def test_embedded_resource(reader: Any, arguments: NoArguments) -> Answer:
    """Answer with a resource."""
    return {"content": [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]}


@pack.read(content=True)
def test_multiple_content_types(reader: Any, arguments: NoArguments) -> Answer:
    """Answer with text, an image and a resource."""
    data = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return {"content": [text("Multiple content types test:"), IMAGE, data]}


@pack.read
def test_error_handling(reader: Any, arguments: NoArguments) -> Answer:
    """Refuse, always."""
    raise Invalid(codes.VALIDATION_ERROR, {"problem": "this tool intentionally returns an error for testing"})


# While it runs


@pack.read
def test_tool_with_progress(reader: Any, arguments: NoArguments) -> Answer:
    """Report progress in three steps."""
    for done in (0, 50, 100):
        report(done, 100)
    return {"steps": 3}


def _remark_three_times() -> Answer:
    remark("Tool execution started")
    remark("Tool processing data")
    remark("Tool execution completed")
    return {"remarks": 3}


@pack.read
def test_tool_with_logging(reader: Any, arguments: NoArguments) -> Answer:
    """Make three remarks."""
    return _remark_three_times()


@pack.read
def test_logging_tool(reader: Any, arguments: NoArguments) -> Answer:
    """Make three remarks, which nobody hears who did not ask for them."""
    return _remark_three_times()


# Questions


class Prompted(TypedDict):
    prompt: Annotated[str, Described("What to ask the model.")]


class Messaged(TypedDict):
    message: Annotated[str, Described("What to tell the user.")]


def form(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a form whose fields must all be filled in."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def optional(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a form whose fields may be left as they are."""
    return {"type": "object", "properties": fields}


def turn(words: str) -> dict[str, Any]:
    """What a user says to a model."""
    return {"role": "user", "content": text(words)}


NAME = Question.form("What is your name?", form(name={"type": "string"}))
CONFIRMATION = Question.form("Please confirm", form(ok={"type": "boolean"}))
GREETING = Question.sampling([turn("Generate a greeting")], 50)


@pack.read(content=True)
def test_sampling(reader: Any, arguments: Prompted) -> Answer:
    """Let the client's model say something."""
    said = ask(said=Question.sampling([turn(arguments["prompt"])], 100))["said"]
    return {"content": [text(f"LLM response: {said['content']['text']}")]}


@pack.read
def test_elicitation(reader: Any, arguments: Messaged) -> Answer:
    """Ask the user for a name and an address."""
    fields = form(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return {"user": ask(user=Question.form(arguments["message"], fields))["user"]}


@pack.read
def test_elicitation_sep1034_defaults(reader: Any, arguments: NoArguments) -> Answer:
    """Ask with a form that is filled in already."""
    fields = optional(
        name={"type": "string", "description": "User name", "default": "John Doe"},
        age={"type": "integer", "description": "User age", "default": 30},
        score={"type": "number", "description": "User score", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "description": "Verification status", "default": True},
    )
    return {"form": ask(form=Question.form("Please review and update the form fields", fields))["form"]}


@pack.read
def test_elicitation_sep1330_enums(reader: Any, arguments: NoArguments) -> Answer:
    """Ask with every kind of choice."""
    options = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{number}", "title": f"{ordinal} Option"}
        for number, ordinal in enumerate(("First", "Second", "Third"), 1)
    ]
    fields = optional(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return {"form": ask(form=Question.form("Please select options", fields))["form"]}


@pack.read
def test_missing_capability(reader: Any, arguments: NoArguments) -> Answer:
    """Ask the client's model, whether there is one or not."""
    return {"greeting": ask(greeting=GREETING)["greeting"]}


@pack.read
def test_streaming_elicitation(reader: Any, arguments: NoArguments) -> Answer:
    """Report progress, then ask."""
    report(0, 1)
    return {"confirmation": ask(confirmation=CONFIRMATION)["confirmation"]}


@pack.read(content=True)
def test_input_required_result_elicitation(reader: Any, arguments: NoArguments) -> Answer:
    """Ask the user for a name and greet them."""
    named = ask(user_name=NAME)["user_name"]
    return {"content": [text(f"Hello, {named.get('content', {}).get('name', 'stranger')}!")]}


@pack.read(content=True)
def test_input_required_result_sampling(reader: Any, arguments: NoArguments) -> Answer:
    """Ask the client's model a question."""
    question = Question.sampling([turn("What is the capital of France?")], 100)
    return {"content": [text(ask(capital_question=question)["capital_question"]["content"]["text"])]}


@pack.read
def test_input_required_result_list_roots(reader: Any, arguments: NoArguments) -> Answer:
    """Ask the client for its roots."""
    return {"roots": ask(client_roots=Question.roots())["client_roots"]["roots"]}


@pack.read(content=True)
def test_input_required_result_request_state(reader: Any, arguments: NoArguments) -> Answer:
    """Ask for a confirmation, with a state that comes back."""
    ask(confirm=CONFIRMATION)
    return {"content": [text("state-ok")]}


@pack.read
def test_input_required_result_multiple_inputs(reader: Any, arguments: NoArguments) -> Answer:
    """Ask the user, the client's model and the client at once."""
    return dict(ask(user_name=NAME, greeting=GREETING, client_roots=Question.roots()))


@pack.read
def test_input_required_result_multi_round(reader: Any, arguments: NoArguments) -> Answer:
    """Ask twice, one after the other."""
    first = ask(step1=Question.form("Step 1: What is your name?", form(name={"type": "string"})))["step1"]
    second = ask(step2=Question.form("Step 2: What is your favorite color?", form(color={"type": "string"})))["step2"]
    return {"name": first["content"]["name"], "color": second["content"]["color"]}


@pack.read
def test_input_required_result_tampered_state(reader: Any, arguments: NoArguments) -> Answer:
    """Ask for a confirmation, with a state that must come back as it was."""
    return {"confirmation": ask(confirm=CONFIRMATION)["confirm"]}


@pack.read
def test_input_required_result_capabilities(reader: Any, arguments: NoArguments) -> Answer:
    """Ask only what this client can be asked."""
    questions: dict[str, Question] = {}
    if can_ask("elicitation"):
        questions["user_name"] = NAME
    if can_ask("sampling"):
        questions["greeting"] = GREETING
    if can_ask("roots"):
        questions["client_roots"] = Question.roots()
    return dict(ask(**questions))


# Schemas


@pack.read(
    controls=(),
    arguments={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)
def json_schema_2020_12_tool(reader: Any, arguments: Mapping[str, Any]) -> Answer:
    """Take what a schema of the full vocabulary lets through."""
    return {"taken": dict(arguments)}


class InRegion(TypedDict):
    region: Annotated[str, Described("Where to; repeated in a header.", **{"x-mcp-header": "Region"})]


@pack.read
def test_custom_header(reader: Any, arguments: InRegion) -> Answer:
    """Take an argument that a header repeats."""
    return {"region": arguments["region"]}


# Prompts

pack.prompt("test_simple_prompt", "A prompt without arguments.", text="This is a simple prompt for testing.")
pack.prompt(
    "test_prompt_with_arguments",
    "A prompt with two arguments.",
    [
        PromptArgument("arg1", "First test argument", choices=("test one", "test two", "other")),
        PromptArgument("arg2", "Second test argument"),
    ],
    text="Prompt with arguments: arg1='{arg1}', arg2='{arg2}'",
)
pack.prompt(
    "test_prompt_with_embedded_resource",
    "A prompt that holds a resource.",
    {"resourceUri": "URI of the resource to embed"},
    messages=[
        {
            "role": "user",
            "content": embedded("{resourceUri}", "text/plain", "Embedded resource content for testing."),
        },
        turn("Please process the embedded resource above."),
    ],
)
pack.prompt(
    "test_prompt_with_image",
    "A prompt that holds an image.",
    messages=[{"role": "user", "content": IMAGE}, turn("Please analyze the image above.")],
)


@pack.read(exposed=False)
def prompt_in_context(reader: Any, arguments: NoArguments) -> Answer:
    """Ask the user for a context and make a prompt of it."""
    question = Question.form("What context should the prompt use?", form(context={"type": "string"}))
    given = ask(user_context=question)["user_context"]
    return {"messages": [turn(f"Answer in this context: {given.get('content', {}).get('context', 'none')}")]}


pack.prompt("test_input_required_result_prompt", "A prompt that asks first.", flow=prompt_in_context)


# Resources


class ById(TypedDict):
    id: Annotated[str, Described("Which one.")]


@pack.read(exposed=False)
def static_text(reader: Any, arguments: NoArguments) -> Answer:
    """A text that never changes."""
    return {"text": "This is the content of the static text resource."}


@pack.read(exposed=False)
def static_binary(reader: Any, arguments: NoArguments) -> Answer:
    """An image that never changes."""
    return {"data": RED_PIXEL}


@pack.read(exposed=False)
def templated(reader: Any, arguments: ById) -> Answer:
    """Data under an id."""
    return {"id": arguments["id"], "templateTest": True, "data": f"Data for ID: {arguments['id']}"}


@pack.read(exposed=False)
def watched(reader: Any, arguments: NoArguments) -> Answer:
    """Something to watch."""
    return {"text": "This resource can be subscribed to."}


pack.resource("test://static-text", static_text, name="Static text", mime_type="text/plain", text="text")
pack.resource("test://static-binary", static_binary, name="Static image", mime_type="image/png", blob="data")
pack.resource("test://template/{id}/data", templated, name="Data by id")
pack.resource("test://watched-resource", watched, name="Watched resource", mime_type="text/plain", text="text")
