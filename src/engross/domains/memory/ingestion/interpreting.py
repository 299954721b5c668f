"""Running an interpreter over a file, off the writer, and making of it what the record takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.replies import Failed, codes

from ..names import normalise
from ..observing import Claim, ObservedEntity, Relation, Weight, named
from ..registry import schemas_for
from ..schema import EntitySchema, unfit_fields, unknown_fields
from ..ways import Ways
from .config import MODEL, RULES, Config

AS_INTERPRETED = Weight(priority=0, specificity=0.5)


class Interpreted(NamedTuple):
    """What an interpreter said, ready to be recorded."""

    record_type: str
    category: str
    media_type: str
    provider: str
    config: Mapping[str, Any]
    claims: Sequence[Claim]
    relations: Sequence[Relation]
    together: bool
    unknown_fields: int = 0
    fragments: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[Mapping[str, Any]] = ()
    weight: Weight = AS_INTERPRETED


def interpreted(
    reader: Reader, content: bytes, media_type: str, filename: str, config: Config, ways: Ways, *, insist: bool
) -> Interpreted:
    """Interpret a file. A model that fails is made up for by the rules, unless the caller insists on it."""
    if config.by_model:
        told = _by_model(content, media_type, filename, config, ways, insist=insist)
        if not isinstance(told, str):
            return _recordable(reader, *told)
        found, said = _by_rules(content, media_type, filename, config, ways)
        return _recordable(reader, found, said, (_fallen_back(told),))
    return _recordable(reader, *_by_rules(content, media_type, filename, config, ways))


def _by_rules(content: bytes, media_type: str, filename: str, config: Config, ways: Ways) -> tuple[Any, dict[str, Any]]:
    from ..interpretation.interpret import CODE_VERSION, interpret

    found = interpret(content, media_type, filename, tesseract=ways.tesseract)
    said = {
        "provider": RULES,
        "model_id": "engross_rules",
        "temperature": 0,
        "prompt_hash": "n/a",
        "code_version": CODE_VERSION,
    }
    return found, _with_request(said, config)


def _by_model(
    content: bytes, media_type: str, filename: str, config: Config, ways: Ways, *, insist: bool
) -> tuple[Any, dict[str, Any]] | str:
    """What a model said, or in one word why it said nothing that can be used."""
    from ..interpretation.model import CODE_VERSION, PROMPT_HASH, ModelProblem, interpret_by_model

    assert ways.model is not None
    assert config.model_id is not None
    try:
        reading = interpret_by_model(
            content,
            media_type,
            filename,
            ways.model,
            model_id=config.model_id,
            temperature=config.temperature,
            tesseract=ways.tesseract,
        )
    except ModelProblem as problem:
        if insist and problem.kind != "no_text":
            raise Failed(codes.ANALYSIS_FAILED, data={"problem": problem.kind}) from None
        return problem.kind
    said = {
        "provider": MODEL,
        "model_id": config.model_id,
        "temperature": config.temperature,
        "prompt_hash": PROMPT_HASH,
        "code_version": CODE_VERSION,
        "answer_hash": reading.answer_hash,
    }
    return reading.interpretation, _with_request(said, config)


def _with_request(said: dict[str, Any], config: Config) -> dict[str, Any]:
    """What was done, and what was asked for where that is something else."""
    differing = {name: value for name, value in config.asked.items() if said.get(name) != value}
    return {**said, "requested": differing} if differing else said


def _fallen_back(kind: str) -> dict[str, Any]:
    return {
        "code": "MODEL_UNAVAILABLE",
        "message": f"The model gave no usable answer ({kind}); the built-in rules interpreted the file.",
        "field": "interpretation_config",
        "suggestion": "Call reinterpret to ask the model again.",
    }


def _recordable(
    reader: Reader, found: Any, config: dict[str, Any], warnings: tuple[dict[str, Any], ...] = ()
) -> Interpreted:
    schemas = schemas_for(reader, [claim.entity_type for claim in found.claims])
    observed: list[ObservedEntity] = []
    fragments: list[dict[str, Any]] = []
    unknown = 0
    for claim in found.claims:
        schema = schemas[claim.entity_type]
        unfit = dict(unfit_fields(schema, claim.fields))
        unknown += len(unknown_fields(schema, claim.fields))
        fragments += [_fragment(schema, name, claim.fields[name], expected) for name, expected in unfit.items()]
        fields = {name: value for name, value in claim.fields.items() if name not in unfit}
        spans = {name: span.as_data() for name, span in claim.spans.items() if name in fields}
        observed.append(ObservedEntity(claim.entity_type, fields, _name(claim), spans))
    return Interpreted(
        found.record_type,
        found.category,
        found.media_type,
        config["provider"],
        config,
        named(observed),
        [Relation(*tie) for tie in found.ties],
        found.together,
        unknown,
        fragments,
        [*warnings, *(note.as_data() for note in found.notes)],
    )


def _name(claim: Any) -> str:
    """What an entity is called. A file can hold a name of nothing but blanks; then its fields tell it apart."""
    if normalise(claim.entity_type, claim.name):
        return str(claim.name)
    return f"{claim.entity_type} {sha256(repr(sorted(claim.fields.items())).encode()).hexdigest()[:12]}"


def _fragment(schema: EntitySchema, name: str, value: Any, expected: str) -> dict[str, Any]:
    """A field that does not fit its schema: kept beside the record, since it is what the source says."""
    return {
        "fragment_type": schema.entity_type,
        "fragment_key": name,
        "fragment_value": value,
        "fragment_envelope": {"reason": "wrong_type", "expected": expected},
    }
