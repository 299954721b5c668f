"""The built-in domains: what they are called, and how each is made when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from engross.calls import Context
from engross.flows import Aggregate, Later, nearest
from engross.governance import Knobs
from engross.replies import Failed, codes
from engross.store import Blobs

from .embedding import HttpEmbedder
from .settings import Settings, required


class Surroundings(NamedTuple):
    """What a domain may ask of the office that it is made for."""

    settings: Settings
    knobs: Knobs
    blobs: Callable[[str], Blobs]
    schemas: Path | None = None


class Domain(NamedTuple):
    """How a domain is made, and the names it takes."""

    make: Callable[[Surroundings], Aggregate]
    tools: tuple[str, ...]
    prompts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    is_owned: bool = False

    def later(self, name: str, around: Surroundings) -> Later:
        """The domain, to be made when it is first used."""
        return Later(name, partial(self.make, around), self.tools, self.prompts, self.addresses, self.is_owned)


def built_in(around: Surroundings, given: Iterable[Aggregate] = ()) -> list[Later]:
    """The domains that the settings name, none of them made yet, without those that are given ready-made.

    Whatever else has the name of one is refused: the facts of the one would be told to the other.
    """
    by_name = {aggregate.namespace: aggregate for aggregate in given}
    later = [DOMAINS[name].later(name, around) for name in chosen_domains(around.settings)]
    return [one for one in later if not _is_there(one, by_name.get(one.namespace))]


def _is_there(later: Later, given: Aggregate | None) -> bool:
    if given is None:
        return False
    if not later.is_made(given):
        told = {
            "namespace": given.namespace,
            "problem": f"the namespace {given.namespace} is that of a built-in domain",
            "hint": f"Choose another name, or leave {given.namespace} out of the setting domains.",
        }
        raise Failed(codes.CONFIG_INVALID, {"setting": "capabilities"}, data=told)
    return True


def chosen_domains(settings: Settings) -> list[str]:
    """The names of the domains that the settings ask for."""
    names = [name for part in settings.domains.split(",") if (name := part.strip())]
    for name in names:
        if name not in DOMAINS:
            told = {"setting": "domains", "allowed": sorted(DOMAINS), "did_you_mean": nearest(name, DOMAINS)}
            raise Failed(codes.CONFIG_INVALID, {"setting": "domains"}, data=told)
    return list(dict.fromkeys(names))


def _architecture(around: Surroundings) -> Aggregate:
    from engross.domains.architecture import Habits, Ways, architecture

    from .kept_files import KeptFiles

    def habits(context: Context) -> Habits:
        knobs = around.knobs.for_(context.tenant)
        return Habits(knobs.duplicate_name, knobs.template_reuse, knobs.max_bulk)

    return architecture(Ways(habits, KeptFiles(around.blobs).own, HttpEmbedder.of(around.settings)))


def _memory(around: Surroundings) -> Aggregate:
    from engross.domains.memory import ModelAccess, Ways, memory

    from .kept_files import KeptFiles

    settings = around.settings
    model, url = required(settings, "interpreter_model", "interpreter_url"), settings.interpreter_url
    return memory(
        Ways(
            files=KeptFiles(around.blobs),
            embedder=HttpEmbedder.of(settings),
            model=ModelAccess(url, model, settings.interpreter_key) if url and model else None,
            quota_runs=settings.interpretation_quota,
        )
    )


def _documents(around: Surroundings) -> Aggregate:
    from engross.domains.documents import Ways, documents

    settings = around.settings
    return documents(
        Ways(
            home=settings.data / "documents",
            blobs=around.blobs,
            roots=settings.document_roots,
            schemas_folder=around.schemas,
            refuse_invalid=settings.refuse_invalid_documents,
        )
    )


DOMAINS: Mapping[str, Domain] = MappingProxyType(
    {
        "architecture": Domain(
            _architecture,
            tools=(
                "addComponentToCapability",
                "applyChanges",
                "createCapability",
                "createCapabilityStructure",
                "createElement",
                "createModel",
                "createRelationship",
                "deleteElement",
                "deleteRelationship",
                "exportModel",
                "getElement",
                "getElementTypes",
                "getNeighborhood",
                "getRelationshipTypes",
                "getView",
                "getWriteSchema",
                "importModel",
                "listElements",
                "listModels",
                "listRelationships",
                "semanticSearch",
                "setContext",
                "updateElement",
                "whyElement",
            ),
            prompts=(
                "model-a-change",
                "explain-architecture",
            ),
            addresses=("architecture://elements/{id}",),
        ),
        "memory": Domain(
            _memory,
            tools=(
                "correct",
                "create_relationship",
                "diff_entity",
                "explain_field",
                "export_memory",
                "get_entity_by_identifier",
                "get_entity_snapshot",
                "get_field_provenance",
                "get_graph_neighborhood",
                "get_related_entities",
                "ingest",
                "ingest_structured",
                "list_duplicate_candidates",
                "list_observations",
                "list_relationships",
                "list_timeline_events",
                "merge_entities",
                "reinterpret",
                "retract_source",
                "retrieve_entities",
                "search_memory",
                "submit_payload",
                "unmerge_entities",
                "why_entity",
            ),
            prompts=(
                "remember-this",
                "brief-me",
            ),
            addresses=("memory://entities/{entity_id}",),
            is_owned=True,
        ),
        "documents": Domain(
            _documents,
            tools=(
                "blame_document",
                "compare_versions",
                "compile_grammar",
                "describe_schema",
                "document_history",
                "list_documents",
                "list_schemas",
                "octave_amend",
                "octave_create",
                "octave_eject",
                "octave_ingest",
                "octave_validate",
                "octave_write",
                "read_document",
                "undo_document",
                "why_document",
            ),
            prompts=("write-document",),
            addresses=(
                "octave://documents/{+path}",
                "octave://schemas/{schema}",
                "octave://grammars/{schema}",
            ),
        ),
    }
)
"""Every built-in domain. Add a line to add one."""
