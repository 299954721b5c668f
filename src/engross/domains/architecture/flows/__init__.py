"""The domain's flows, by what they are about. What carries them out is imported when one is first called."""

from engross.flows import Aggregate

from ..ways import Ways
from .capabilities import add_capability_flows
from .changes import add_change_flows
from .discovery import add_discovery_flows
from .elements import add_element_flows
from .files import add_file_flows
from .graphs import add_graph_flows
from .models import add_model_flows
from .reasons import add_reason_flows
from .relationships import add_relationship_flows
from .search import add_search_flows


def add_flows(architecture: Aggregate, ways: Ways) -> None:
    """Give an aggregate all flows of the domain."""
    add_element_flows(architecture, ways)
    add_relationship_flows(architecture, ways)
    add_capability_flows(architecture, ways)
    add_model_flows(architecture, ways)
    add_change_flows(architecture, ways)
    add_file_flows(architecture, ways)
    add_graph_flows(architecture)
    add_search_flows(architecture, ways)
    add_reason_flows(architecture)
    # It describes the writes, so it comes last.
    add_discovery_flows(architecture)
