"""What the flows of ingestion take."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Described

from ..arguments import UserId

FILE_NAME = r"^[^/\\\u0000-\u001f\u007f]+$"


Config = Annotated[
    dict[str, Any], Described("provider (rule_based, model), model_id, temperature, prompt_hash, code_version.")
]


class Ingest(TypedDict):
    """A file."""

    user_id: NotRequired[UserId]
    file_content: NotRequired[Annotated[str, Described("The file in base64.")]]
    content_hash: NotRequired[
        Annotated[str, Described("Or the SHA-256 of an uploaded file.", pattern="^[0-9a-f]{64}$")]
    ]
    mime_type: NotRequired[Annotated[str, Described("As application/pdf; needed with file_content.", maxLength=400)]]
    original_filename: NotRequired[
        Annotated[str, Described("Its name.", minLength=1, maxLength=255, pattern=FILE_NAME)]
    ]
    interpret: NotRequired[Annotated[bool, Described("Extract entities.", default=True)]]
    interpretation_config: NotRequired[Config]


class Provenance(TypedDict):
    """Where a payload comes from."""

    source_refs: Annotated[
        list[Annotated[str, Described("An id.", maxLength=200)]],
        Described("Ids of what it was made from.", maxItems=1000),
    ]
    extracted_at: Annotated[str, Described("ISO 8601 with zone.", maxLength=64)]
    extractor_version: Annotated[str, Described("What made it.", minLength=1, maxLength=200)]
    agent_id: NotRequired[Annotated[str, Described("Who made it.", maxLength=200)]]


class SubmitPayload(TypedDict):
    """Structured data of a registered kind."""

    capability_id: Annotated[str, Described("As neotoma:store_invoice:v1.", minLength=1, maxLength=200)]
    body: Annotated[dict[str, Any], Described("The data.")]
    provenance: Annotated[Provenance, Described("Where it comes from.")]
    user_id: NotRequired[UserId]


class Reinterpret(TypedDict):
    """A source, and how to read it."""

    source_id: Annotated[str, Described("The source.", minLength=1, maxLength=128)]
    interpretation_config: Config
