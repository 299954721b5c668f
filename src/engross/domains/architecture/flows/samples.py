"""Calls that the examples of several flows build on."""

from __future__ import annotations

from collections.abc import Mapping

Call = tuple[str, Mapping[str, object]]

ORDERS: Mapping[str, object] = {"type": "ApplicationComponent", "name": "OrderService", "description": "Takes orders"}
FULFILLMENT: Mapping[str, object] = {
    "name": "Fulfillment",
    "description": "Ability to fulfill customer orders",
    "profile": {"owner": "Supply Chain", "criticality": "High", "lifecycle": "Active"},
}
REALIZES: Mapping[str, object] = {
    "type": "Realization",
    "source_id": "$0.element.id",
    "target_id": "$1.element.id",
}
A_COMPONENT: Call = ("architecture.create-element", ORDERS)
A_SERVICE: Call = ("architecture.create-element", {"type": "ApplicationService", "name": "Ordering"})
A_CAPABILITY: Call = ("architecture.create-capability", FULFILLMENT)
A_MODEL: Call = ("architecture.create-model", {"name": "Target 2030"})
RELATED: Call = ("architecture.create-relationship", REALIZES)
