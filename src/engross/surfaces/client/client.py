"""A caller's hold on an office: flows as methods, Replies back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, get_args

from engross.calls import Principal, PrincipalType, Surface
from engross.flows import Aggregate
from engross.office import Office, Request
from engross.replies import Reply


class Client:
    """Somebody at an office. `call` blocks, `acall` awaits, and both answer with a Reply, whatever happens."""

    def __init__(self, office: Office, tenant: str, principal: Principal, surface: Surface = "embedded") -> None:
        self.office = office
        self.tenant = tenant
        self.principal = principal
        self.surface: Surface = surface

    def call(self, flow: str, arguments: Mapping[str, Any] | None = None, /, **options: Any) -> Reply:
        """Call a flow by its ref, as `cards.create-card`.

        Options: dry_run, timeout (seconds), traceparent, tracestate, correlation_id, causation_id, pins, break_glass.
        """
        return self.office.call(self._request(flow, arguments, options))

    async def acall(self, flow: str, arguments: Mapping[str, Any] | None = None, /, **options: Any) -> Reply:
        """`call` for an event loop."""
        return await self.office.acall(self._request(flow, arguments, options))

    def as_(
        self,
        name: str,
        type: PrincipalType = "human",
        roles: Iterable[str] = ("contributor",),
        *,
        tenant: str | None = None,
        surface: Surface | None = None,
    ) -> Client:
        """Somebody else at the same office."""
        if type not in get_args(PrincipalType):
            raise ValueError(f"{type!r} is no kind of principal: use one of {', '.join(get_args(PrincipalType))}")
        principal = Principal(name, type, frozenset([roles] if isinstance(roles, str) else roles))
        return Client(self.office, tenant or self.tenant, principal, surface or self.surface)

    def close(self) -> None:
        """Close the office, for everybody."""
        self.office.close()

    def __getattr__(self, namespace: str) -> Calling:
        for aggregate in self.office.catalogue.aggregates:
            if aggregate.namespace == namespace.replace("_", "-"):
                return Calling(self, aggregate)
        raise AttributeError(f"this office has no aggregate {namespace!r}")

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _request(self, flow: str, arguments: Mapping[str, Any] | None, options: Mapping[str, Any]) -> Request:
        return Request(
            flow,
            {} if arguments is None else arguments,
            self.tenant,
            self.principal,
            surface=self.surface,
            **options,
        )


class Calling:
    """The flows of one aggregate as methods: `client.cards.create_card(title="...")`."""

    def __init__(self, client: Client, aggregate: Aggregate) -> None:
        self._client = client
        self._aggregate = aggregate

    def __getattr__(self, name: str) -> Method:
        flow = self._aggregate.flows.get(name.replace("_", "-"))
        if flow is None:
            raise AttributeError(f"{self._aggregate.namespace} has no flow {name!r}")
        return Method(self._client, flow.ref)

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in self._aggregate.flows]


class Method:
    """One flow, called with its arguments by name."""

    def __init__(self, client: Client, ref: str) -> None:
        self._client = client
        self.ref = ref

    def __call__(self, **arguments: Any) -> Reply:
        return self._client.call(self.ref, arguments)

    async def acall(self, **arguments: Any) -> Reply:
        """The same, awaited."""
        return await self._client.acall(self.ref, arguments)

    def dry_run(self, **arguments: Any) -> Reply:
        """What the call would do, and nothing done."""
        return self._client.call(self.ref, arguments, dry_run=True)
