"""Flows: everything a caller can do, as data. No I/O happens here."""

from typing import TYPE_CHECKING

from engross.later import later

from .address import Address
from .admissible import admissible
from .aggregate import Aggregate, Applier
from .catalogue import Catalogue
from .checked import CallWarning, Checked, Normaliser
from .checker import Checker
from .consistency import Consistency
from .contents import Later
from .controls import CONTROLS, NO_CONTROLS, Controls
from .definition import FlowDefinitionError
from .described import Described
from .determinism import Determinism
from .example import Example, filled
from .exposure import Exposure, Listener, Overrides, Tool
from .facets import Dialect, Effect, Facets, Kind, Posture
from .fault import SERVER_OWNED, shortened
from .flow import Flow
from .limits import LIMITS, Limits
from .misshapen import Misshapen
from .moment import MOMENT, Moment, moment_of
from .nearest import nearest
from .prompt import Prompt, PromptArgument
from .resource import Found, Resource, Topic, as_declared
from .route import Route, RouteField
from .schemas import Schema, Shape, schema_of
from .semantics import HINTS, Semantics, hints
from .signature import Handler
from .skill import Skill, SkillTool
from .typed import NoArguments
from .unknown import unknown_flow

if TYPE_CHECKING:
    from .portability import Finding, lint, lint_flow, lint_schema

__all__ = [
    "CONTROLS",
    "HINTS",
    "LIMITS",
    "MOMENT",
    "NO_CONTROLS",
    "SERVER_OWNED",
    "Address",
    "Aggregate",
    "Applier",
    "CallWarning",
    "Catalogue",
    "Checked",
    "Checker",
    "Consistency",
    "Controls",
    "Described",
    "Determinism",
    "Dialect",
    "Effect",
    "Example",
    "Exposure",
    "Facets",
    "Finding",
    "Flow",
    "FlowDefinitionError",
    "Found",
    "Handler",
    "Kind",
    "Later",
    "Limits",
    "Listener",
    "Misshapen",
    "Moment",
    "NoArguments",
    "Normaliser",
    "Overrides",
    "Posture",
    "Prompt",
    "PromptArgument",
    "Resource",
    "Route",
    "RouteField",
    "Schema",
    "Semantics",
    "Shape",
    "Skill",
    "SkillTool",
    "Tool",
    "Topic",
    "admissible",
    "as_declared",
    "filled",
    "hints",
    "lint",
    "lint_flow",
    "lint_schema",
    "moment_of",
    "nearest",
    "schema_of",
    "shortened",
    "unknown_flow",
]

_LINT = ("Finding", "lint", "lint_flow", "lint_schema")

__getattr__ = later(__name__, dict.fromkeys(_LINT, f"{__name__}.portability"))
