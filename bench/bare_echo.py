"""The bare Starlette that REST is measured against, in a process that has nothing else to carry.

`python -m bench.bare_echo PORT`. `/echo` reads and writes JSON as Starlette does, `/quick` by orjson.
"""

from __future__ import annotations

import sys

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def echo(request: Request) -> Response:
    """What came, as Starlette reads and writes it."""
    return JSONResponse(await request.json())


async def quick(request: Request) -> Response:
    """What came, by the quickest library for JSON."""
    return Response(orjson.dumps(orjson.loads(await request.body())), media_type="application/json")


if __name__ == "__main__":
    routes = [Route("/echo", echo, methods=["POST"]), Route("/quick", quick, methods=["POST"])]
    uvicorn.run(
        Starlette(routes=routes),
        port=int(sys.argv[1]),
        log_level="error",
        access_log=False,
        loop="uvloop",
        http="httptools",
    )
