"""The same write behind a bare route: no guard, no credential, no log, nothing of our REST surface.

`python -m bench.bare_route FOLDER PORT`. What it takes longer than an echo is what the write itself takes.
"""

from __future__ import annotations

import sys

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engross.surfaces.client import Client, connect
from engross.surfaces.collector import spare_what_stays

from .notes import notes


def make_app(client: Client) -> Starlette:
    """A note is kept at /keep."""

    async def keep(request: Request) -> Response:
        answer = await client.acall("notes.keep-note", orjson.loads(await request.body()))
        return Response(orjson.dumps(answer.data), answer.http_status, media_type="application/json")

    return Starlette(routes=[Route("/keep", keep, methods=["POST"])])


if __name__ == "__main__":
    with connect(sys.argv[1], notes()) as client:
        # As a served office does.
        spare_what_stays()
        uvicorn.run(
            make_app(client),
            port=int(sys.argv[2]),
            log_level="error",
            access_log=False,
            loop="uvloop",
            http="httptools",
        )
