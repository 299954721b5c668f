"""The OCTAVE language: parse, write canonically, change, validate, mend, and show in other formats."""

from .advice import advice
from .change import DELETE, Change, Edited, apply_changes, apply_mutations, copied, refuse_reserved
from .constraint import Breach, Constraint, breach
from .document import Document, Envelope
from .eject import FORMATS, Ejected, Format, eject, read_json, read_yaml
from .emitter import emit
from .error import Edit, OctaveError
from .given import RESERVED
from .grammar import grammar_of
from .json_schema import json_schema_of
from .node import Assignment, Block, Comment, Node, Section, Separator
from .parser import parse
from .path import ABSENT, Place, find, paths, value_at
from .pattern import Rule, chain_of, rule_of
from .receipt import Receipt
from .repair import Repair, Repaired, repair, suggest
from .sameness import canonical_hash, faithful, same
from .schema import Policy, Schema, schema_of
from .shelf import SHIPPED, Shelf
from .source import LONGEST
from .template import template_of
from .validation import Findings, Route, Violation, check
from .value import Item, List, Literal, Number, Pair, Pattern, Value
from .verdict import Status, Verdict, validate
from .view import MODES, Mode, View, view_of

__all__ = [
    "ABSENT",
    "DELETE",
    "FORMATS",
    "LONGEST",
    "MODES",
    "RESERVED",
    "SHIPPED",
    "Assignment",
    "Block",
    "Breach",
    "Change",
    "Comment",
    "Constraint",
    "Document",
    "Edit",
    "Edited",
    "Ejected",
    "Envelope",
    "Findings",
    "Format",
    "Item",
    "List",
    "Literal",
    "Mode",
    "Node",
    "Number",
    "OctaveError",
    "Pair",
    "Pattern",
    "Place",
    "Policy",
    "Receipt",
    "Repair",
    "Repaired",
    "Route",
    "Rule",
    "Schema",
    "Section",
    "Separator",
    "Shelf",
    "Status",
    "Value",
    "Verdict",
    "View",
    "Violation",
    "advice",
    "apply_changes",
    "apply_mutations",
    "breach",
    "canonical_hash",
    "chain_of",
    "check",
    "copied",
    "eject",
    "emit",
    "faithful",
    "find",
    "grammar_of",
    "json_schema_of",
    "parse",
    "paths",
    "read_json",
    "read_yaml",
    "refuse_reserved",
    "repair",
    "rule_of",
    "same",
    "schema_of",
    "suggest",
    "template_of",
    "validate",
    "value_at",
    "view_of",
]
