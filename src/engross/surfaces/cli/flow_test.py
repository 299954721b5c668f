"""Running the examples of documents, over every surface, against recorded upstreams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engross.flows import filled
from engross.office import Settings
from engross.replies import REGISTRY, Reply, codes, reply

from .answering import FINDINGS, attempt, finish
from .place import AsJson, Capability
from .printing import print_fields, print_json, print_table, say

if TYPE_CHECKING:
    from engross.office.trials import Trial

    from .trial_ways import Call

_OF_THE_OFFICE = frozenset(
    {
        *("reply", "success", "status", "facts", "position", "warnings", "suggestions", "idempotent_replay"),
        *("original_request_time", "trace_id", "error", "receipt", "retryable"),
    }
)
"""Fields of an answer that are not the flow's own."""
_UNRECORDED = REGISTRY.entry(codes.UPSTREAM_UNRECORDED).key

Surfaces = Annotated[
    list[str] | None,
    typer.Option("--surface", help="Only this surface; may be repeated.", metavar="SURFACE"),
]


def try_out(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Documents.")],
    record: Annotated[
        bool, typer.Option("--record", help="Call the upstreams, and keep their answers beside the document.")
    ] = False,
    surface: Surfaces = None,
    capability: Capability = None,
    json: AsJson = False,
) -> None:
    """Run the examples of documents over every surface. Exit code 1: not all came out as they say."""
    from .trial_ways import SURFACES

    surfaces = tuple(surface or SURFACES)
    if unknown := set(surfaces) - set(SURFACES):
        raise typer.BadParameter(f"{unknown.pop()} is none of {', '.join(SURFACES)}", param_hint="--surface")

    def work() -> Reply:
        found = [one for file in files for one in _tried(file, capability or [], surfaces, record=record)]
        return reply(codes.SYS_OK, data={"passed": all(one["passed"] for one in found), "trials": found})

    answer = attempt(work)
    if not answer.ok:
        finish(answer, json=json)
    elif json:
        print_json(answer)
    else:
        _show(answer)
    if answer.ok and not answer.data["passed"]:
        raise typer.Exit(FINDINGS)


def _tried(file: Path, others: list[Path], surfaces: tuple[str, ...], *, record: bool) -> Iterator[dict[str, Any]]:
    """What came of each example on each surface."""
    from engross.office.trials import settings_of_trial, trials

    from .trial_ways import ways_into

    with TemporaryDirectory() as folder:
        settings = settings_of_trial(Path(folder) / "office", [*others, file])
        examples = list(trials(file, settings))
        if record and (failed := _unrecorded(file, replace(settings, upstreams="record"), examples)):
            yield from failed
            return
        with ways_into(settings, surfaces if examples else ()) as ways:
            for trial in examples:
                first: Mapping[str, Any] | None = None
                for surface, call in ways.items():
                    answer, problems = _outcome(trial, call)
                    own = _own(answer)
                    if first is not None and own is not None and own != first and not problems:
                        problems = [f"the answer is not the one of {next(iter(ways))}"]
                    first = own if first is None else first
                    yield _told(file, trial, surface, answer, problems)


def _unrecorded(file: Path, settings: Settings, examples: list[Trial]) -> list[dict[str, Any]]:
    """Make all calls, and keep what is answered. Unless every example comes out, what was kept before stays.

    Then this is what came of all of them: against a recording they would only say that something is missing there.
    """
    from engross.office.trials import record_into, recording_beside

    from .handing_out import put, refusing
    from .trial_ways import in_process

    recording, made = recording_beside(file), settings.data.with_name("recording")
    with in_process(settings, partial(record_into, made, file)) as call:
        told = [_told(file, trial, "python", *_outcome(trial, call)) for trial in examples]
    if not all(one["passed"] for one in told):
        return told
    with refusing(recording, "--record"):
        if made.exists():
            put(recording, [made.read_bytes()])
        else:
            recording.unlink(missing_ok=True)
    return []


def _outcome(trial: Trial, call: Call) -> tuple[Mapping[str, Any] | None, list[str]]:
    """The answer to an example, and what is wrong with it."""
    from engross.office.trials import NOT_SAID, differences

    answers: list[Any] = []
    for before, arguments in trial.example.given:
        earlier = _confirmed(call, before, filled(arguments, answers))
        if earlier is None or earlier["reply"]["reply_type"] != "S":
            return earlier, [f"{before}, which comes first, did not succeed"]
        answers.append(earlier)
    answer = _confirmed(call, trial.flow, filled(trial.example.arguments, answers))
    if answer is None:
        return None, []
    key = answer["reply"]["message_key"]
    if key != trial.example.reply:
        return answer, [f"it ends in {key}, not in {trial.example.reply}"]
    return answer, [] if trial.answer is NOT_SAID else list(differences(trial.answer, answer))


def _confirmed(call: Call, ref: str, arguments: Any) -> Mapping[str, Any] | None:
    """The answer; an example confirms what it asks for."""
    answer = call(ref, arguments)
    if answer is None or answer["reply"]["code"] != codes.CONFIRMATION_REQUIRED or "confirm_token" not in answer:
        return answer
    return call(ref, {**arguments, "confirm_token": answer["confirm_token"]})


def _own(answer: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if answer is None or answer["reply"]["reply_type"] != "S":
        return None
    return {name: value for name, value in answer.items() if name not in _OF_THE_OFFICE}


def _told(
    file: Path, trial: Trial, surface: str, answer: Mapping[str, Any] | None, problems: list[str]
) -> dict[str, Any]:
    outcome = "not offered" if answer is None else answer["reply"]["message_key"]
    return {
        "file": str(file),
        "flow": trial.flow,
        "example": trial.title,
        "surface": surface,
        "outcome": outcome,
        "passed": not problems,
        "problems": problems,
    }


def _show(answer: Reply) -> None:
    found = answer.data["trials"]
    rows = [{**one, "": "ok" if one["passed"] else "FAILED"} for one in found]
    if rows:
        print_table(rows, ("flow", "example", "surface", "outcome", ""))
    failed = [one for one in found if not one["passed"]]
    for one in failed:
        say(f"{one['flow']}, {one['example']}, {one['surface']}:", style="red")
        print_fields({"problems": one["problems"]}, depth=1)
    if any(one["outcome"] == _UNRECORDED for one in failed):
        say("what the other systems answer is not recorded: engross flow test --record asks them", style="yellow")
    examples = len({(one["file"], one["flow"], one["example"]) for one in found})
    summary = "all came out" if not failed else f"{len(failed)} of {len(found)} runs did not come out"
    say(f"{examples} example{'' if examples == 1 else 's'}: {summary}" if found else "there are no examples")
