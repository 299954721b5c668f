"""A document to begin with."""

from __future__ import annotations

ALONE = """\
ikanos: "1.0.0-beta5"
info:
  display: "{display}"
  description: "Flows of my own."
  version: "0.1.0"
capability:
  aggregates:
    {namespace}:
      display: "{display}"
      flows:
        greet:
          description: "Greet somebody by name."
          semantics: {{ safe: true, idempotent: true }}
          inputParameters:
            name: {{ type: string, description: "Whom to greet" }}
          outputParameters:
            greeting: {{ type: string, value: "Hello, {{{{name}}}}." }}
          examples:
            - title: "Ada"
              arguments: {{ name: Ada }}
              answer: {{ greeting: "Hello, Ada." }}
"""

CALLING = """\
ikanos: "1.0.0-beta5"
info:
  display: "{display}"
  description: "Flows of my own."
  version: "0.1.0"
capability:
  consumes:
    - type: http
      namespace: {namespace}-api
      description: "The system that answers."
      baseUri: "{base_uri}"
      resources:
        item:
          path: "/items/{{{{id}}}}"
          description: "One item."
          operations:
            get-item:
              method: GET
              inputParameters:
                id: {{ in: path }}
  aggregates:
    {namespace}:
      display: "{display}"
      flows:
        get-item:
          description: "Read one item."
          semantics: {{ safe: true, idempotent: true }}
          inputParameters:
            id: {{ type: string, description: "Which item" }}
          call: {namespace}-api.get-item
          with: {{ id: id }}
"""


def starter(namespace: str, base_uri: str | None = None) -> str:
    """The text of a document: with a flow that answers by itself, or one that calls somebody."""
    display = namespace.replace("-", " ").capitalize()
    text = ALONE if base_uri is None else CALLING
    return text.format(namespace=namespace, display=display, base_uri=base_uri)
