"""The format of capability documents, written down once, as shapes."""

from __future__ import annotations

from typing import Final

from .node import Keyed, Listed, Node, Scalar
from .shapes import Anything, Chosen, Field, Flag, Later, Listing, Named, Number, Picked, Raw, Record, Shape, Text

VERSIONS: Final = (
    *(f"1.0.0-alpha{number}" for number in (3, 4, 5, 6)),
    *(f"1.0.0-beta{number}" for number in (1, 2, 3, 4, 5)),
)
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
TYPES: Final = ("string", "number", "integer", "boolean", "array", "object")
RAW_FORMATS: Final = ("json", "xml", "yaml", "csv", "tsv", "psv", "text")

IDENTIFIER: Final = r"[a-zA-Z0-9-]+"
PARAMETER: Final = r"[a-zA-Z0-9_*-]+"
KEBAB: Final = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"

_name = Text("a name of letters, digits and hyphens", IDENTIFIER)
_kebab = Text("a name of lower-case words joined by hyphens", KEBAB)
_tool_name = Text("a name of at most 64 letters, digits, hyphens and underscores", r"[a-zA-Z0-9_-]{1,64}")
_parameter_name = Text("a name of letters, digits, hyphens and underscores", PARAMETER)
_target = Text("of the form namespace.name", rf"{IDENTIFIER}\.{IDENTIFIER}")
_text = Text()
_telling = Text(empty=False)
_tags = Listing(_text)
_method = Text(among=METHODS)
_type = Text(among=TYPES)
_port = Number(1, 65535, whole=True)
_address = Text("a host name or an address", r"[a-zA-Z0-9.:\[\]-]+")
_date = Text("a date as 2026-01-31", r"\d{4}-\d{2}-\d{2}")
_literal = Text("a text or a number", loosely=True)
_given = Named(Raw(), _parameter_name, key="")

_shapes: dict[str, Shape] = {}


def _is_map(node: Node) -> int:
    return 0 if isinstance(node, Keyed) else 1


def _is_list(node: Node) -> int:
    return 0 if isinstance(node, Listed) else 1


def _imported(node: Node) -> int:
    return 0 if isinstance(node, Keyed) and "from" in node.entries else 1


def _is_parameter(node: Node) -> int:
    """A parameter says its type as a text; a map of fields may have a field of that name, which is a map."""
    return 0 if isinstance(node, Keyed) and isinstance(node.entries.get("type"), Scalar) else 1


# Parameters.

_input_part = Record(
    "A parameter",
    type=_type,
    description=_text,
    required=Flag(),
    default=Anything(),
    enum=Listing(Anything(), 1),
    pattern=_text,
    items=Later("input-part", _shapes),
    properties=Named(Later("input-part", _shapes), _parameter_name),
)
_input = Record(
    "An input parameter", also=_input_part, type=Field(_type, needed=True), description=Field(_telling, needed=True)
)
_inputs = Named(_input, _parameter_name)
_own_inputs = Named(_input_part, _parameter_name)
_rest_input = Record(
    "An input parameter",
    also=_input_part,
    in_=Field(Text(among=("query", "header", "path", "cookie", "body")), needed=True),
    value=_literal,
)
_rest_inputs = Named(_rest_input, _parameter_name)
_consumed_input = Record(
    "A consumed parameter",
    in_=Field(Text(among=("query", "header", "path", "cookie", "body", "environment")), needed=True),
    value=_literal,
)
_consumed_inputs = Named(_consumed_input, _parameter_name)

_output = Record(
    "An output parameter",
    type=Field(_type, needed=True),
    description=_text,
    mapping=_text,
    value=Anything(),
    const=Anything(),
    properties=Named(Later("output", _shapes), _parameter_name, least=1),
    items=Picked(_is_parameter, (Later("output", _shapes), Named(Later("output", _shapes), _parameter_name))),
)
_named_outputs = Named(Later("output", _shapes), _parameter_name)
_outputs = Picked(_is_list, (Listing(Later("output", _shapes)), _named_outputs))
_shapes |= {"input-part": _input_part, "output": _output}

_timeout = Number(0.001, 600)
_retry = Picked(
    _is_map,
    (
        Record("retry", attempts=Field(Number(1, 10, whole=True), needed=True), backoff=Number(0, 60)),
        Number(1, 10, whole=True),
    ),
)
_patience = Record("", timeout=_timeout, retry=_retry)

# Flows.

_call_step = Record(
    "A call step", also=_patience, type=_text, call=Field(_target, needed=True), with_=_given, description=_text
)
_lookup_step = Record(
    "A lookup step",
    type=_text,
    index=Field(_name, needed=True),
    match=Field(Text("the name of a field", r"[^\s.\[\]]+"), needed=True),
    lookupValue=Field(_literal, needed=True),
    outputParameters=Field(Listing(_telling, 1), needed=True),
    description=_text,
)
_handler_step = Record(
    "A handler step", type=_text, handler=Field(_parameter_name, needed=True), with_=_given, description=_text
)
_step = Chosen(
    "A step",
    "type",
    {"call": _call_step, "lookup": _lookup_step, "handler": _handler_step},
    hint=" What a script would do, a registered Python handler does.",
)
_mapping = Record(
    "A mapping",
    target=Field(Text("a name, with dots for what lies inside", r"[a-zA-Z0-9_-]+(?:\.[a-zA-Z0-9_-]+)*"), needed=True),
    value=Field(_telling, needed=True),
)
_example = Record(
    "An example",
    title=_text,
    arguments=Named(Anything(), _parameter_name, key=""),
    answer=Anything(),
    reply=Text("a message key as READ_OK", r"[A-Z][A-Z0-9_]*"),
    given=Listing(
        Record(
            "An earlier call",
            call=Field(_target, needed=True),
            arguments=Named(Anything(), _parameter_name, key=""),
        )
    ),
)
_doing = Record(
    "",
    also=_patience,
    call=_target,
    with_=_given,
    steps=Named(_step, _name, least=1),
    mappings=Listing(_mapping),
    outputParameters=_outputs,
    tags=_tags,
    outputMediaType=Field(_text, unused="outputMediaType has no effect here."),
    examples=Listing(_example),
)
_flow = Record(
    "A flow",
    also=_doing,
    description=Field(_telling, needed=True),
    semantics=Record("semantics", safe=Flag(), idempotent=Flag(), cacheable=Flag(), destructive=Flag()),
    inputParameters=_inputs,
    version=Text("a version as 1.0.0", r"\d+\.\d+\.\d+"),
    ref=Field(
        _text, refused=("V7", "A flow does not refer to another one: use call, or expose the other flow itself.")
    ),
)
_aggregate = Record(
    "An aggregate",
    namespace=_kebab,
    display=Field(_telling, needed=True),
    flows=Field(Named(_flow, _kebab, least=1), needed=True),
)

# Consumed.

_authentication = Chosen(
    "authentication",
    "type",
    {
        "basic": Record("basic", type=_text, username=Field(_text, needed=True), password=Field(_text, needed=True)),
        "bearer": Record("bearer", type=_text, token=Field(_text, needed=True)),
        "apikey": Record(
            "apikey",
            type=_text,
            key=Field(_telling, needed=True),
            value=Field(_text, needed=True),
            placement=Text(among=("header", "query")),
        ),
    },
)
_body = Picked(
    _is_map,
    (
        Record(
            "body",
            type=Field(Text(among=("json", "text", "xml", "formUrlEncoded")), needed=True),
            data=Field(Anything(), needed=True),
        ),
        Text(),
    ),
)
_operation = Record(
    "A consumed operation",
    also=_patience,
    method=Field(_method, needed=True),
    display=_text,
    tags=_tags,
    description=_text,
    inputParameters=_consumed_inputs,
    body=_body,
    outputRawFormat=Text(among=RAW_FORMATS),
    outputParameters=_named_outputs,
    outputSchema=Field(_text, unused="outputSchema has no effect here."),
    outputMediaType=Field(_text, unused="outputMediaType has no effect here."),
)
_consumed_resource = Record(
    "A consumed resource",
    path=Field(_text, needed=True),
    operations=Field(Named(_operation, _name, least=1), needed=True),
    display=_text,
    tags=_tags,
    description=_text,
    inputParameters=_consumed_inputs,
)
_client = Chosen(
    "A consumes entry",
    "type",
    {
        "http": Record(
            "A consumes entry",
            also=_patience,
            type=_text,
            namespace=Field(_name, needed=True),
            baseUri=Field(
                Text("an address as https://api.example.net/v1", r"(?:https?://[^/\s]+|\{\{[^{}]+\}\}[^\s]*)(?:/\S*)?"),
                needed=True,
            ),
            description=_text,
            inputParameters=_consumed_inputs,
            authentication=_authentication,
            resources=Field(Named(_consumed_resource, _name), needed=True),
            tunnel=Field(Anything(), refused=("V3", "Tunnels are not offered: name an address that can be reached.")),
        )
    },
)
_bind = Record(
    "A binds entry",
    namespace=Field(_name, needed=True),
    keys=Field(
        Named(
            Text("the name of a key", PARAMETER),
            Text("a variable of capitals, digits and underscores", r"[A-Z][A-Z0-9_]*"),
            key="",
            least=1,
        ),
        needed=True,
    ),
    location=Text("an address as file:///./secrets.yaml", r"[a-z][a-z0-9+.-]*://\S+"),
    description=_text,
)

# Exposed.

_unit = Record(
    "",
    also=_doing,
    display=_text,
    description=_text,
    ref=_target,
)
_hints = Record("hints", readOnly=Flag(), destructive=Flag(), idempotent=Flag(), openWorld=Flag())
_tool = Record("A tool", also=_unit, inputParameters=_own_inputs, hints=_hints)
_mcp_resource = Record(
    "A resource",
    also=_patience,
    display=Field(_telling, needed=True),
    uri=Field(Text("an address as scheme://path", r"[a-z][a-z0-9+.-]*://\S+"), needed=True),
    description=Field(_telling, needed=True),
    mimeType=_text,
    call=_target,
    with_=_given,
    steps=Named(_step, _name, least=1),
    mappings=Listing(_mapping),
    outputParameters=_outputs,
    location=Text("a folder as file:///./notes", r"file://\S+"),
)
_prompt = Record(
    "A prompt",
    display=Field(_telling, needed=True),
    description=Field(_telling, needed=True),
    arguments=Named(
        Record("An argument", display=_text, description=Field(_telling, needed=True), required=Flag()), _parameter_name
    ),
    template=Listing(
        Record(
            "A message",
            role=Field(Text(among=("user", "assistant")), needed=True),
            content=Field(_text, needed=True),
        ),
        1,
    ),
    location=Text("a file as file:///./prompt.md", r"file://\S+"),
)
_served = Record(
    "",
    type=_text,
    port=_port,
    address=_address,
    authentication=Field(
        Anything(), unused="The office itself admits callers, whatever the exposure: authentication has no effect here."
    ),
)
_mcp = Record(
    "An mcp entry",
    also=_served,
    namespace=Field(_kebab, needed=True),
    transport=Text(among=("http", "stdio")),
    description=_text,
    tools=Named(_tool, _tool_name),
    resources=Named(_mcp_resource, _name),
    prompts=Named(_prompt, _tool_name),
    ttlMs=Field(Anything(), unused="ttlMs has no effect here."),
    cacheScope=Field(Anything(), unused="cacheScope has no effect here."),
    maxBinarySize=Field(Anything(), unused="maxBinarySize has no effect here."),
)
_rest_operation = Record(
    "An operation",
    also=_unit,
    method=Field(_method, needed=True),
    inputParameters=_rest_inputs,
    responses=Field(Anything(), unused="responses has no effect here: they follow from the flow."),
    responseBinary=Field(Anything(), unused="responseBinary has no effect here."),
)
_rest_resource = Record(
    "A resource",
    path=Field(Text("a path as /items/{id}", r"/\S*"), needed=True),
    display=_text,
    description=_text,
    tags=_tags,
    inputParameters=_rest_inputs,
    operations=Field(Named(_rest_operation, _name, least=1), needed=True),
    forward=Field(Anything(), refused=("V3", "Forwarding is not offered: declare the operations that may be called.")),
)
_rest = Record(
    "A rest entry",
    also=_served,
    namespace=Field(_kebab, needed=True),
    description=_text,
    resources=Field(Named(_rest_resource, _name, least=1), needed=True),
)
_skill_tool = Record(
    "A skill's tool",
    description=Field(_telling, needed=True),
    from_=Record("from", sourceNamespace=Field(_name, needed=True), action=Field(_tool_name, needed=True)),
    instruction=_telling,
)
_skill = Record(
    "A skill",
    description=Field(Text(empty=False, longest=1024), needed=True),
    license=_text,
    compatibility=Text(longest=500),
    metadata=Named(_literal, Text(), key=""),
    allowed_tools=_text,
    argument_hint=_text,
    user_invocable=Flag(),
    disable_model_invocation=Flag(),
    location=Text("a folder as file:///./skills/forecast", r"file://\S+"),
    tools=Named(_skill_tool, _tool_name),
)
_skills = Record(
    "A skill entry",
    also=_served,
    namespace=Field(_kebab, needed=True),
    description=_text,
    skills=Field(Named(_skill, _kebab, least=1), needed=True),
)
_control = Record(
    "A control entry",
    also=_served,
    namespace=_name,
    description=_text,
    management=Anything(),
    observability=Anything(),
    scripting=Anything(),
)
_exposes = Chosen("An exposes entry", "type", {"mcp": _mcp, "rest": _rest, "skill": _skills, "control": _control})

# The whole.

_import = Record(
    "An import",
    from_=Field(_telling, needed=True),
    import_=Field(_name, needed=True),
    as_=_name,
    description=_text,
    type=_text,
    location=Field(_text, refused=("V13", "An import names its file with from, no longer with location.")),
)
_info = Record(
    "info",
    display=Field(_telling, needed=True),
    description=Field(_text, needed=True),
    tags=_tags,
    created=_date,
    modified=_date,
    version=_literal,
    stakeholders=Listing(
        Record("A stakeholder", role=Field(_text, needed=True), fullName=Field(_text, needed=True), email=_text)
    ),
)


def _or_import(shape: Shape) -> Shape:
    return Picked(_imported, (_import, shape))


_aggregates = Picked(
    _is_list,
    (Listing(_or_import(_aggregate), 1), Named(_or_import(_aggregate), _kebab, key="", least=1)),
)
SECTIONS: Final = ("consumes", "aggregates", "exposes", "binds")
_capability = Record(
    "capability",
    binds=Listing(_or_import(_bind), 1),
    consumes=Listing(_or_import(_client), 1),
    aggregates=_aggregates,
    exposes=Listing(_or_import(_exposes), 1),
)
DOCUMENT: Final = Record(
    "A document",
    also=_capability,
    ikanos=Field(_text, needed=True),
    info=_info,
    capability=_capability,
)
PARTS: Final = _shapes
"""The shapes that contain themselves, by name."""
