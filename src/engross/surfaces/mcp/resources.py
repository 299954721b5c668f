"""Resources: what read flows answer, under addresses."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import orjson

from engross.flows import Found, Resource
from engross.replies import Reply, codes, reply, structured

from .calling import answered
from .completing import beginning_with, known_values
from .protocol import failed, unknown_cursor, unknown_resource
from .window import RequestContext, Visit, Window


class Resources:
    """What the requests about resources answer."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def listed(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer `resources/list`: addresses without variables."""
        plain = [one for one in self._offered(context, params) if not one.is_template]
        return types.ListResourcesResult(
            resources=[types.Resource(uri=one.address.template, **_told(one)) for one in plain]
        )

    async def templates(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Answer `resources/templates/list`: addresses with variables."""
        with_variables = [one for one in self._offered(context, params) if one.is_template]
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=one.address.template, **_told(one)) for one in with_variables
            ]
        )

    async def read(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """Answer `resources/read` with a call of the flow behind the address."""
        visit = self._window.visit(context)
        found = visit.desk.resource(visit.caller, params.uri, visit.surface)
        if found is None:
            raise unknown_resource(context, params.uri)
        outcome = await answered(context, params, visit, found.flow, found.arguments)
        if isinstance(outcome, types.InputRequiredResult):
            return outcome
        if not outcome.ok:
            raise not_read(context, params.uri, outcome)
        return types.ReadResourceResult(contents=[_contents(params.uri, found, outcome)])

    async def completed(self, uri: str, argument: types.CompletionArgument, visit: Visit) -> list[str]:
        """Values for a variable of an address, where they are known."""
        offered = visit.desk.resources(visit.caller, visit.surface)
        resource = next((one for one in offered if one.address.template == uri), None)
        if resource is None or argument.name not in resource.address.variables:
            return []
        return beginning_with(argument.value, await known_values(argument.name, resource.ref, visit))

    def _offered(self, context: RequestContext, params: types.PaginatedRequestParams | None) -> list[Resource]:
        if params is not None and params.cursor is not None:
            raise unknown_cursor()
        visit = self._window.visit(context)
        return visit.desk.resources(visit.caller, visit.surface)


def _told(resource: Resource) -> dict[str, Any]:
    return {
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mime_type": resource.mime_type,
    }


def _contents(uri: str, found: Found, answer: Reply) -> types.TextResourceContents | types.BlobResourceContents:
    resource = found.resource
    if resource.blob is not None:
        return types.BlobResourceContents(
            uri=uri, mime_type=resource.mime_type, blob=_field(answer, resource.blob, found)
        )
    if resource.text is not None:
        text = _field(answer, resource.text, found)
    else:
        text = orjson.dumps(structured(answer, found.flow.dialect)).decode()
    return types.TextResourceContents(uri=uri, mime_type=resource.mime_type, text=text)


def _field(answer: Reply, name: str, found: Found) -> str:
    """The field that holds the content; a flow that gives none, or no text, has failed."""
    value = answer.data.get(name)
    if isinstance(value, str):
        return value
    refused = reply(codes.NOT_SERIALIZABLE, {"pointer": f"/{name}"})
    raise failed(refused if answer.trace is None else refused.traced(answer.trace, found.flow.ref))


def not_read(context: RequestContext, uri: str, answer: Reply) -> Exception:
    """What is missing is missing, in the protocol's words; everything else is told as it is."""
    if answer.http_status == 404:
        return unknown_resource(context, uri, structured(answer))
    return failed(answer, uri=uri)
