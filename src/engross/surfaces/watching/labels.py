"""Names that may stand in logs, metrics and spans."""

from __future__ import annotations

from engross.flows import Catalogue

UNKNOWN = "unknown"
OF_MCP = frozenset({"find_flow", "describe_flow", "run_flow"})
"""What MCP answers without a flow of its own."""


class Labels:
    """Tells names that are ours from what somebody made up: that may be long, endless in number, or a secret."""

    def __init__(self, catalogue: Catalogue) -> None:
        refs = (flow.ref for aggregate in catalogue.aggregates for flow in aggregate.flows.values())
        self._known = {name: name for name in (*refs, *OF_MCP)}

    def of(self, name: str) -> str:
        """The name, if it is ours."""
        return self._known.get(name, UNKNOWN)
