"""The flows that tell about schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engross.calls import Answer
from engross.flows import Aggregate, Example, NoArguments
from engross.ledger import Reader
from engross.replies import codes

from .drafting import shelf_of
from .refusals import bad_input, refuse_octave
from .schemas import ONE_SCHEMA
from .ways import Ways
from .write_flows import MORE

if TYPE_CHECKING:
    from engross.octave import Schema

Arguments = Mapping[str, Any]
NO_SUCH = Example("No such schema", {"schema": "NOTHING"}, reply="E_INPUT")


def add_schema_flows(documents: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows that tell about schemas."""

    @documents.read(controls=(), answers=None, examples=[Example("All of them", {})])
    def list_schemas(reader: Reader, arguments: NoArguments) -> Answer:
        """List the schemas that documents can be held against."""
        return Answer({"schemas": shelf_of(ways).listing()})

    @documents.read(
        arguments=ONE_SCHEMA,
        controls=(),
        answers=None,
        refuses=(codes.E_INPUT, codes.E_PARSE),
        examples=[Example("What a session log has", {"schema": "SESSION_LOG"}), NO_SUCH],
    )
    def describe_schema(reader: Reader, arguments: Arguments) -> Answer:
        """Describe a schema: its fields and what is demanded of them, as JSON Schema too, and a template."""
        from engross.octave import emit, json_schema_of, template_of

        schema = _schema(ways, arguments["schema"])
        return Answer(
            {
                "schema": schema.as_data(),
                "json_schema": json_schema_of(schema),
                "template": emit(template_of(schema)),
            }
        )

    @documents.read(
        arguments=ONE_SCHEMA,
        controls=(),
        answers=None,
        refuses=(codes.E_INPUT, codes.E_PARSE),
        examples=[Example("For a constrained decoder", {"schema": "META"}), NO_SUCH],
    )
    def compile_grammar(reader: Reader, arguments: Arguments) -> Answer:
        """Make a GBNF grammar of a schema, for decoders that can be held to one."""
        from engross.octave import grammar_of

        return Answer({"format": "gbnf", "grammar": grammar_of(_schema(ways, arguments["schema"]))})

    for flow in (list_schemas, describe_schema, compile_grammar):
        documents.expose(flow, toolset=MORE)
    documents.resource(
        "octave://schemas/{schema}",
        describe_schema,
        name="schema",
        title="Schema of documents",
        description="The fields of a schema and what is demanded of them.",
        changes="",
    )
    documents.resource(
        "octave://grammars/{schema}",
        compile_grammar,
        name="grammar",
        title="Grammar of a schema",
        description="A GBNF grammar of the documents that a schema describes.",
        mime_type="text/plain",
        text="grammar",
        changes="",
    )


def _schema(ways: Ways, name: str) -> Schema:
    from engross.octave import OctaveError

    shelf = shelf_of(ways)
    try:
        found = shelf.get(name)
    except OctaveError as error:
        refuse_octave(error, "schema")
    if found is None:
        raise bad_input(f"there is no schema {name[:100]}", "schema", schemas=shelf.names())
    return found
