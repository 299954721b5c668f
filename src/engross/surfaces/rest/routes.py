"""Where everything is."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Any

from starlette.routing import BaseRoute, Route, Router
from starlette.types import Receive, Scope, Send

from engross.replies import Failed, codes
from engross.surfaces.desk import Desk

from .blobs import ADDRESS, Downloads, Uploads
from .calls import Calls
from .exposed import Below
from .public import Description, Nowhere, Public, problem, problems
from .skills import Skills

TAKEN = "blobs"
"""A namespace that would lie where the files are."""
_FLOW = re.compile(rf"/v1/(?!{TAKEN}/)(?P<namespace>[^/]+)/(?P<flow>[^/]+)")


def rest_routes(desk: Desk, *, base_url: str = "") -> list[BaseRoute]:
    """The routes of REST. Whoever serves them puts the caller into `scope["state"]["caller"]` below `/v1`."""
    if any(aggregate.namespace == TAKEN for aggregate in desk.catalogue.aggregates):
        complaint = f"a namespace cannot be called {TAKEN}: that is where files are"
        raise Failed(codes.CONFIG_INVALID, {"setting": "capabilities"}, data={"problem": complaint})
    base = base_url.rstrip("/")
    description = Description(desk, base)
    return [
        Route(ADDRESS, Uploads(desk, base), name="uploads"),
        Route(f"{ADDRESS}/{{content_hash}}", Downloads(desk, base), name="downloads"),
        Route("/v1/{namespace}/{flow}", Calls(desk, base), name="calls"),
        *(Route(path, Nowhere(base), name="nowhere") for path in ("/v1", "/v1/{rest:path}")),
        Route("/openapi.json", Public(description.openapi, base), name="openapi"),
        Route("/docs", Public(description.docs, base), name="docs"),
        Route("/problems", Public(problems, base), name="problems"),
        Route("/problems/{code}", Public(problem, base), name="problem"),
        *(Route(path, Skills(desk, base), name="skills") for path in ("/skills", "/skills/{rest:path}")),
        Below(desk, base),
    ]


class Rest(Router):
    """The routes of REST, with a short way to flows: a router would try one route after the other."""

    def __init__(self, desk: Desk, *, base_url: str = "", **options: Any) -> None:
        """Options are those of Starlette's router."""
        super().__init__(rest_routes(desk, base_url=base_url), **options)
        self._calls = Calls(desk, base_url.rstrip("/"))

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]:
        """Answer one request."""
        path: str = scope["path"] if scope["type"] == "http" else ""
        flow = self._calls.at(path)
        if flow is not None:
            return self._calls.answer(scope, receive, send, flow.ref, flow)
        found = _FLOW.fullmatch(path)
        if found is None:
            return super().__call__(scope, receive, send)
        scope["path_params"] = found.groupdict()
        return self._calls(scope, receive, send)

    def dialect_of(self, path: str) -> str:
        """The dialect of the flow at a path: also what is refused before it is called answers in it."""
        found = _FLOW.fullmatch(path)
        return "plain" if found is None else self._calls.dialect_of(**found.groupdict())
