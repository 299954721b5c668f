"""Whatever is sent to a flow, the answer is one of the four, and never our failure."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.domains.architecture import architecture
from tests.architecture.studio import Studio

FLOWS = {flow.name: flow for flow in architecture().flows.values()}
WORDS = ["", "x", "Orders", "Node", "Flow", "default", "el_x", "#0", "Type/Name", "é" * 300, "a\nb", "<a/>", "$op"]


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema's type, within its bounds or not."""
    if "enum" in schema:
        return st.sampled_from([*schema["enum"], "x"])
    kind = schema.get("type")
    if kind == "object" and schema.get("properties"):
        return st.fixed_dictionaries({}, optional={name: fitting(one) for name, one in schema["properties"].items()})
    if kind == "object":
        return st.dictionaries(st.sampled_from(WORDS), ANYTHING, max_size=3)
    if kind == "array":
        return st.lists(fitting(schema.get("items", {})), max_size=3)
    return {"string": st.sampled_from(WORDS), "integer": st.integers(-3, 600), "boolean": st.booleans()}.get(
        str(kind), ANYTHING
    )


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from(WORDS), st.just([1]), st.just({"a": 1})
)


def calls(name: str) -> st.SearchStrategy[dict[str, Any]]:
    fields = FLOWS[name].published["properties"]
    return st.fixed_dictionaries(
        {}, optional={field: st.one_of(fitting(one), fitting(one), ANYTHING) for field, one in fields.items()}
    )


@pytest.mark.requirement("REL-06")
@pytest.mark.parametrize("name", FLOWS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_call_makes_a_flow_fail(shared_studio: Studio, name: str, data: st.DataObject) -> None:
    call = data.draw(calls(name))
    answer = shared_studio.robot.call(FLOWS[name].ref, call)
    assert answer.reply_type in "SID", (name, call, answer)
    validated = shared_studio.robot.call("record.validate-write", {"operation": FLOWS[name].ref, "payload": call})
    assert validated.reply_type in "SI", (name, call, validated)
