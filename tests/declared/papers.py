"""Documents for tests: one that is right, and ways to break it at a place that is marked."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engross.declared.checking import Checked, check
from engross.declared.fault import Fault

MARK = "§"
"""Stands before the very character that a fault has to name."""

SHELF = """\
ikanos: "1.0.0-beta5"
info: { display: "Shelf", description: "Stock lookups", version: "0.1.0" }
binds:
  - { namespace: env, keys: { ERP_KEY: ERP_KEY } }
capability:
  consumes:
    - type: http
      namespace: erp
      description: "ERP"
      baseUri: "http://127.0.0.1:8090/v2"
      authentication: { type: apikey, key: X-Key, value: "{{ERP_KEY}}", placement: header }
      resources:
        item:
          path: "/items/{{sku}}"
          description: "One article."
          operations:
            get-item: { method: GET, inputParameters: { sku: { in: path }, lang: { in: query } } }
        suppliers:
          path: "/suppliers"
          description: "All suppliers."
          operations:
            list-suppliers: { method: GET }
  aggregates:
    stock:
      display: "Stock"
      flows:
        get-item:
          description: "Read one article."
          semantics: { safe: true, idempotent: true }
          inputParameters:
            sku: { type: string, description: "Article number" }
            lang: { type: string, description: "Language", required: false }
          call: erp.get-item
          with: { sku: sku }
          outputParameters:
            - type: object
              properties:
                sku: { type: string, mapping: "$.id" }
                price: { type: number, mapping: "$.price.amount" }
        item-with-supplier:
          description: "One article and the supplier that ships it."
          semantics: { safe: true, idempotent: true }
          inputParameters:
            sku: { type: string, description: "Article number" }
          steps:
            item: { type: call, call: erp.get-item, with: { sku: "{{sku}}" } }
            suppliers: { type: call, call: erp.list-suppliers }
            supplier:
              type: lookup
              index: suppliers
              match: code
              lookupValue: "$.item.supplierCode"
              outputParameters: [name, country]
          mappings:
            - { target: sku, value: "$.item.id" }
            - { target: supplier.name, value: "$.supplier.name" }
          outputParameters:
            sku: { type: string }
            supplier: { type: object, properties: { name: { type: string } } }
  exposes:
    - type: mcp
      namespace: shelf-mcp
      tools:
        get-item: { ref: stock.get-item }
        item-with-supplier: { ref: stock.item-with-supplier }
    - type: rest
      namespace: shelf-rest
      resources:
        item:
          path: "/items/{sku}"
          operations:
            get-item: { ref: stock.get-item, method: GET }
"""
ENVIRONMENT = {"ERP_KEY": "a-very-secret-key"}


class Marked(NamedTuple):
    """A text, and the place that was marked in it."""

    text: str
    line: int
    column: int


WORDS = """\
ikanos: "1.0.0-beta5"
capability:
  aggregates:
    words:
      display: "Words"
      flows:
        greet:
          description: "Greet somebody."
          semantics: { safe: true, idempotent: true }
          inputParameters: { name: { type: string, description: "Whom" } }
          outputParameters: { greeting: { type: string, value: "Hello, {{name}}" } }
"""


def marked(text: str) -> Marked:
    """The text without its mark."""
    before, _, after = text.partition(MARK)
    assert MARK not in after
    return Marked(before + after, before.count("\n") + 1, len(before) - before.rfind("\n"))


def broken(old: str, new: str, text: str = SHELF) -> Marked:
    """The right document with one part replaced; the mark is in the new part."""
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    return marked(text.replace(old, new))


def written(folder: Path, text: str, name: str = "shelf.yaml") -> Path:
    """The file with this text."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def examined(folder: Path, text: str, name: str = "shelf.yaml") -> Checked:
    """What a check of this text finds."""
    return check(written(folder, text, name), {}, ENVIRONMENT)


def named(faults: tuple[Fault, ...], rule: str) -> list[tuple[str, int, int]]:
    """Where faults of a rule are: severity, line and column."""
    return [(fault.severity, fault.place.line, fault.place.column) for fault in faults if fault.rule == rule]
