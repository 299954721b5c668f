"""A document that exposes flows in every way, the system that it calls, and a way to talk to who serves it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx2

from tests.bed.served import Served
from tests.declared.papers import written
from tests.declared.upstream import Asked, Told

DOCUMENT = """\
ikanos: "1.0.0-beta5"
info: {{ display: "Warehouse", description: "Stock", version: "1.2.3" }}
binds:
  - {{ namespace: env, location: "file:///./secrets.yaml", keys: {{ ERP_KEY: KEY }} }}
capability:
  consumes:
    - type: http
      namespace: erp
      description: "ERP"
      baseUri: "{url}/v2"
      authentication: {{ type: apikey, key: X-Key, value: "{{{{ERP_KEY}}}}" }}
      resources:
        item:
          path: "/items/{{{{sku}}}}"
          description: "One article."
          operations:
            get-item: {{ method: GET, inputParameters: {{ sku: {{ in: path }}, lang: {{ in: query }} }} }}
        items:
          path: "/items"
          description: "All articles."
          operations:
            add-item:
              method: POST
              body: {{ type: json, data: {{ sku: "{{{{sku}}}}", amount: "{{{{amount}}}}", tags: "{{{{tags}}}}" }} }}
  aggregates:
    stock:
      display: "Stock"
      flows:
        get-item:
          description: "Read one article."
          semantics: {{ safe: true, idempotent: true }}
          inputParameters:
            sku: {{ type: string, description: "Article number", pattern: "^[A-Z]" }}
            lang: {{ type: string, description: "Language", required: false }}
          call: erp.get-item
          with: {{ sku: sku }}
          outputParameters:
            - type: object
              properties:
                sku: {{ type: string, mapping: "$.id" }}
                price: {{ type: number, mapping: "$.price.amount" }}
                lang: {{ type: string, mapping: "$.lang" }}
        add-item:
          description: "Put an article on stock."
          semantics: {{ idempotent: true, destructive: false }}
          inputParameters:
            sku: {{ type: string, description: "Article number" }}
            amount: {{ type: integer, description: "How many", default: 1 }}
            tags: {{ type: array, description: "Words", required: false, items: {{ type: string }} }}
          call: erp.add-item
        price:
          description: "What an article costs."
          inputParameters:
            sku: {{ type: string, description: "Article number" }}
          call: erp.get-item
          outputParameters:
            - {{ type: number, mapping: "$.price.amount" }}
        greet:
          description: "Say hello."
          inputParameters:
            name: {{ type: string, description: "Whom" }}
          outputParameters:
            greeting: {{ type: string, value: "Hello, {{{{name}}}}" }}
  exposes:
    - type: mcp
      namespace: stock-mcp
      description: "Articles on stock"
      tools:
        get-item: {{ ref: stock.get-item }}
        look-up-open:
          ref: stock.get-item
          display: "Look up"
          description: "Look an article up, wherever it is."
          hints: {{ openWorld: true }}
        get-french:
          ref: stock.get-item
          inputParameters: {{ number: {{ type: string, description: "Article number" }} }}
          with: {{ sku: number, lang: fr }}
        add-item: {{ ref: stock.add-item }}
        price-tag: {{ ref: stock.price }}
        greet: {{ ref: stock.greet, hints: {{ readOnly: true }} }}
        ping:
          description: "Answers."
          hints: {{ readOnly: true }}
          outputParameters: {{ pong: {{ type: boolean, value: "true" }} }}
        all-books: {{ ref: shelf.list-books, description: "Every book.", hints: {{ openWorld: true }} }}
      resources:
        item:
          display: "Article"
          uri: "stock://items/{{sku}}"
          description: "One article."
          call: erp.get-item
        notes: {{ display: "Notes", uri: "stock://notes", description: "How we count.", location: "file:///./notes" }}
      prompts:
        count:
          display: "Count"
          description: "Count articles."
          arguments:
            shelf: {{ description: "Which shelf" }}
            style: {{ description: "How", required: false }}
          template:
            - {{ role: user, content: "Count {{{{shelf}}}} as {{{{style}}}}: {{\\"json\\": {{}}}}" }}
    - type: rest
      namespace: stock-rest
      resources:
        item:
          path: "/items/{{sku}}"
          operations:
            get-item: {{ ref: stock.get-item, method: GET }}
        items:
          path: "/items"
          operations:
            add-item: {{ ref: stock.add-item, method: POST }}
        french:
          path: "/french/{{sku}}"
          operations:
            get-item:
              ref: stock.get-item
              method: GET
              inputParameters:
                sku: {{ in: path }}
                lang: {{ in: query, value: fr }}
        by-header:
          path: "/current"
          operations:
            get-item:
              ref: stock.get-item
              method: GET
              inputParameters: {{ sku: {{ in: header }}, lang: {{ in: cookie }} }}
        deep:
          path: "/deep"
          operations:
            add-item:
              ref: stock.add-item
              method: PUT
              inputParameters:
                sku: {{ in: body, value: "$.article.number" }}
                amount: {{ in: query }}
        special:
          path: "/items/special"
          operations:
            greet: {{ ref: stock.greet, method: GET }}
    - type: skill
      namespace: stock-skills
      skills:
        counting:
          description: "Count what is there."
          license: MIT
          metadata: {{ author: Ada }}
          location: "file:///./skills/counting"
          tools:
            get-item: {{ description: "Read one.", from: {{ sourceNamespace: stock-mcp, action: get-item }} }}
            by-rest: {{ description: "Read one.", from: {{ sourceNamespace: stock-rest, action: get-item }} }}
            how: {{ description: "How to.", instruction: how.md }}
"""
SECRET = "not-for-anybodys-eyes"
REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def stocked(asked: Asked) -> object:
    """What the ERP answers."""
    if asked.headers.get("x-key") != SECRET:
        return Told(401, b'{"error": "who are you"}')
    if asked.method == "POST":
        return Told(201, asked.body)
    address = urlsplit(asked.path)
    sku = unquote(address.path.removeprefix("/v2/items/"))
    if sku == "ZZ":
        return Told(404, b'{"error": "none"}')
    return {"id": sku, "price": {"amount": 9.5}, "lang": parse_qs(address.query).get("lang", ["en"])[0]}


def furnished(folder: Path, url: str) -> Path:
    """The document, with the files that belong to it."""
    written(folder, f"KEY: {SECRET}\n", "secrets.yaml")
    written(folder, "Count from left to right.", "notes/left.txt")
    written(folder, "Then again.", "notes/more/right.txt")
    written(folder, "# How to count\n", "skills/counting/how.md")
    written(folder, "<script>alert(1)</script>", "skills/counting/bad.html")
    return written(folder, DOCUMENT.format(url=url), "warehouse.yaml")


class Mcp:
    """MCP over HTTP, on the wire."""

    def __init__(self, served: Served, token: str) -> None:
        self._client = served.client(token)

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def ask(self, method: str, named: str | None = None, /, **params: Any) -> dict[str, Any]:
        """One request of the stateless era; the whole message."""
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION}
        headers |= {"Mcp-Method": method, **({"Mcp-Name": named} if named else {})}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        return _message(self._client.post("/mcp", json=message, headers=headers))

    def result(self, method: str, named: str | None = None, /, **params: Any) -> dict[str, Any]:
        """What a request is answered with."""
        message = self.ask(method, named, **params)
        assert "result" in message, message
        result: dict[str, Any] = message["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers."""
        answer: dict[str, Any] = self.result("tools/call", tool, name=tool, arguments=arguments)["structuredContent"]
        return answer

    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools by name."""
        return {tool["name"]: tool for tool in self.result("tools/list")["tools"]}


def _message(answer: httpx2.Response) -> dict[str, Any]:
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    message: dict[str, Any] = json.loads(text)
    return message
