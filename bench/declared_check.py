"""Checking a document with 500 flows, beside the bare parse of the same text by ruamel.yaml."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .claims import Claim
from .rounds import interleaved

FLOWS = 500
ROUNDS = 5

HEAD = """\
ikanos: "1.0.0-beta5"
capability:
  consumes:
    - type: http
      namespace: erp
      description: "ERP"
      baseUri: "https://erp.internal/v2"
      resources:
        item:
          path: "/items/{{sku}}"
          description: "One article."
          operations:
            get-item: { method: GET, inputParameters: { sku: { in: path }, lang: { in: query } } }
  aggregates:
    stock:
      display: "Stock"
      flows:
"""
FLOW = """\
        get-item-NUMBER:
          description: "Read article number NUMBER."
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
"""
EXPOSES = """\
  exposes:
    - type: mcp
      namespace: shelf
      tools:
"""
TOOL = "        get-item-NUMBER: { ref: stock.get-item-NUMBER }\n"


def measure() -> list[Claim]:
    """The claim about checking."""
    from ruamel.yaml import YAML

    from engross.declared.checking import check

    text = document(FLOWS)

    def parse() -> float:
        started = time.process_time()
        YAML(typ="safe").load(text)
        return (time.process_time() - started) * 1000

    with TemporaryDirectory() as folder:
        file = Path(folder) / "many.yaml"
        file.write_text(text)

        def hold() -> float:
            started = time.process_time()
            found: Any = check(file)
            took = (time.process_time() - started) * 1000
            if found.faults:
                raise RuntimeError(f"the document is not right: {found.faults[0]}")
            return took

        figures = interleaved({"check": hold, "ruamel.yaml": parse}, rounds=ROUNDS)
    what = f"checking a document with {FLOWS} flows, against the bare parse of it"
    return [Claim(what, figures["check"] / figures["ruamel.yaml"], "at most", 3, figures, "ms")]


def document(flows: int) -> str:
    """A document with that many flows, each exposed as a tool."""
    numbers = range(flows)
    written = "".join(FLOW.replace("NUMBER", str(number)) for number in numbers)
    exposed = "".join(TOOL.replace("NUMBER", str(number)) for number in numbers)
    return f"{HEAD}{written}{EXPOSES}{exposed}"
