"""Where everything is."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from engross.replies import Failed, codes
from engross.surfaces.desk import Desk

from .blobs import ADDRESS, Downloads, Uploads
from .calls import Calls
from .exposed import Below
from .public import Description, Nowhere, Public, problem, problems
from .skills import Skills

TAKEN = "blobs"
"""A namespace that would lie where the files are."""


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
