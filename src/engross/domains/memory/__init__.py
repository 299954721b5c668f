"""Memory: facts with their sources, about entities that documents, payloads and people tell of."""

from engross.flows import Aggregate

from .exports import add_export_flows
from .finding_flows import add_finding_flows
from .graph_flows import add_graph_flows
from .identity_flows import add_identity_flows
from .ingestion import add_ingestion_flows
from .prompts import add_prompts
from .reason_flows import add_reason_flows
from .retract_flows import add_retract_flows
from .schema_flows import add_schema_flows
from .state import add_appliers
from .structured_flows import add_structured_flows
from .tables import MIGRATIONS, TABLES
from .timeline_flows import add_timeline_flows
from .truth_flows import add_truth_flows
from .ways import USUAL_WAYS, Files, ModelAccess, Uploaded, Ways

MORE = ("diff-entity", "export-memory", "list-duplicate-candidates", "unmerge-entities", "why-entity")
"""Flows that are found, but not listed as tools unless somebody asks for the toolset `memory-more`."""

__all__ = ["Files", "ModelAccess", "Uploaded", "Ways", "memory"]


def memory(ways: Ways = USUAL_WAYS) -> Aggregate:
    """The whole domain as one aggregate."""
    aggregate = Aggregate(
        "memory", "Memory", dialect="memory", tables=TABLES, migrations=MIGRATIONS, naming="snake", owned_by="owner"
    )
    add_appliers(aggregate)
    add_ingestion_flows(aggregate, ways)
    add_export_flows(aggregate)
    add_structured_flows(aggregate, ways)
    add_truth_flows(aggregate, ways)
    add_reason_flows(aggregate)
    add_finding_flows(aggregate, ways)
    add_graph_flows(aggregate, ways)
    add_timeline_flows(aggregate, ways)
    add_identity_flows(aggregate, ways)
    add_retract_flows(aggregate, ways)
    add_schema_flows(aggregate, ways)
    add_prompts(aggregate)
    for name in MORE:
        aggregate.expose(aggregate.flows[name], toolset="memory-more")
    return aggregate
