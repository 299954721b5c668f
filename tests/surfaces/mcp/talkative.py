"""Flows that talk while they run, answer with pictures, wait, and break."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.calls import Question, ask, can_ask, remark, report
from engross.flows import Aggregate, Described, NoArguments, PromptArgument
from engross.ledger import Reader
from engross.replies import Invalid, codes

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


class Wait(TypedDict):
    """Where to say that it has begun, and what to wait for."""

    begun: NotRequired[Annotated[str, Described("A file to make at the beginning.")]]
    until: Annotated[str, Described("A file to wait for.")]


class Words(TypedDict):
    """Something to say."""

    words: Annotated[str, Described("The words.")]


def talkative() -> Aggregate:
    """A fresh aggregate of them."""
    talk = Aggregate("talk", "Talkative flows")

    @talk.read
    def count(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Count to three, aloud."""
        for number in range(1, 4):
            report(number, 3, f"{number} of 3")
            remark({"counted": number}, "info")
            remark("a detail", "debug")
        return {"counted": 3}

    @talk.read(timeout_seconds=60)
    def wait(reader: Reader, arguments: Wait) -> Mapping[str, Any]:
        """Wait for a file."""
        if "begun" in arguments:
            Path(arguments["begun"]).touch()
        while not Path(arguments["until"]).exists():
            time.sleep(0.005)
        return {"waited": True}

    @talk.read
    def introduce(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Ask for a name, then for a colour."""
        if not can_ask("elicitation"):
            return {"said": "nobody to ask"}
        named = ask(name=Question.form("What is your name?", NAME))["name"]
        if named["action"] != "accept":
            return {"said": "no name"}
        liked = ask(colour=Question.form("Which colour do you like?", COLOUR))["colour"]
        return {"said": f"{named['content']['name']} likes {liked['content']['colour']}"}

    @talk.read(timeout_seconds=0.2)
    def hurry(reader: Reader, arguments: Wait) -> Mapping[str, Any]:
        """Ask without time for an answer, and go on talking when nobody listens any more."""
        try:
            ask(name=Question.form("What is your name?", NAME))
        finally:
            report(99, 100, "too late")
            remark("too late", "error")
            Path(arguments["until"]).touch()
        return {}

    @talk.read
    def insist(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Ask for a name without looking whether anybody can be asked."""
        return {"said": ask(name=Question.form("What is your name?", NAME))["name"]["action"]}

    @talk.read
    def consult(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Ask the model and for the roots, both at once."""
        messages = [{"role": "user", "content": {"type": "text", "text": "Which capital has France?"}}]
        answers = ask(capital=Question.sampling(messages, 100), folders=Question.roots())
        return {"capital": answers["capital"]["content"]["text"], "folders": len(answers["folders"]["roots"])}

    @talk.read(content=True)
    def show(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Show several kinds of content."""
        embedded = {"uri": "talk://note", "mimeType": "text/plain", "text": "A note."}
        return {
            "content": [
                {"type": "text", "text": "A picture and a sound:"},
                {"type": "image", "data": PICTURE, "mimeType": "image/png"},
                {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
                {"type": "resource", "resource": embedded},
            ],
            "shown": 4,
        }

    @talk.read(content=True)
    def mumble(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Answer with content blocks that are none."""
        return {"content": [{"type": "smell", "of": "roses"}]}

    @talk.read(content=True)
    def refuse(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Refuse to show anything."""
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "picture", "id": "1"})

    @talk.read
    def stumble(reader: Reader, arguments: Words) -> Mapping[str, Any]:
        """Ask the program to exit before the arguments are even checked."""
        return {}

    stumble.normalise(lambda arguments: sys.exit("no further"))

    @talk.read
    def crash(reader: Reader, arguments: Words) -> Mapping[str, Any]:
        """Break."""
        raise RuntimeError(arguments["words"])

    @talk.read
    def chatter(reader: Reader, arguments: Words) -> Mapping[str, Any]:
        """Print where nobody should print."""
        print(arguments["words"])
        sys.stdout.flush()
        return {"printed": True}

    @talk.read
    def greet(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """Words that greet whoever is asked for their name."""
        name = ask(name=Question.form("What is your name?", NAME))["name"]["content"]["name"]
        return {"messages": [{"role": "user", "content": {"type": "text", "text": f"Greet {name}."}}]}

    @talk.read
    def note(reader: Reader, arguments: NoArguments) -> Mapping[str, Any]:
        """A note in words and as a picture."""
        return {"words": "A note.", "picture": PICTURE}

    talk.resource("talk://note", note, name="note", mime_type="text/plain", text="words", description="A note.")
    talk.resource("talk://picture", note, name="picture", mime_type="image/png", blob="picture", description="One.")
    talk.resource("talk://nothing", note, name="nothing", text="nothing", description="A field that is not there.")
    talk.resource("talk://broken/{words}", crash, name="broken", description="Breaks.")
    talk.resource("talk://asking", introduce, name="asking", description="Asks.", text="said")
    talk.prompt("greet", "Greet somebody.", flow=greet)
    talk.prompt(
        "paint",
        "Paint something.",
        [PromptArgument("colour", "In which colour.", choices=("red", "rose", "blue"))],
        messages=[{"role": "user", "content": {"type": "image", "data": PICTURE, "mimeType": "image/png"}}],
    )
    talk.prompt("mumble", "Words that are none.", flow=note)
    talk.expose(crash, toolset="legacy")
    return talk
