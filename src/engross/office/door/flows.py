"""The flows by which people make, see and revoke tokens. None of them ever tells the text of one."""

from collections.abc import Callable
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.calls import Context, PrincipalType, Role, instant_after
from engross.flows import Aggregate, Described, Example, Semantics
from engross.governance.judgement import MCP, refusal
from engross.ledger import Reader, Unit
from engross.office.cursor import read_cursor, write_cursor
from engross.pipeline import Fittings
from engross.replies import Denied, Invalid, codes

from .text import ID_PREFIX
from .tokens import (
    NAMESPACE,
    Token,
    find_token,
    jwt_subject,
    page_of_tokens,
    state_created,
    state_jwt_revoked,
    state_revoked,
    tokens_aggregate,
)

TOOLSET = "review"
PAGE = 50
NAME = r"^[^\s\x00-\x1f\x7f]+$"
CONTROLS = ("client_request_id", "reason")
WHERE_THE_ISSUER_IS = (
    "Revoke it where the issuer is known: with the same ENGROSS_ISSUER and ENGROSS_AUDIENCE as the server, "
    "or at the served office itself, on the command line by --url and a person's --token."
)

TokenId = Annotated[str, Described("The token's id: tok_ and so on.", minLength=1, maxLength=128)]
Scope = Annotated[str, Described("A scope.", minLength=1, maxLength=128, pattern=NAME)]


class CreateToken(TypedDict):
    """For whom a token is, and what it carries."""

    principal: Annotated[str, Described("Who it stands for.", minLength=1, maxLength=128, pattern=NAME)]
    type: Annotated[PrincipalType, Described("What they are. Only a human can approve.")]
    roles: Annotated[list[Role], Described("The rights it carries.", minItems=1, maxItems=5, uniqueItems=True)]
    scopes: NotRequired[
        Annotated[list[Scope], Described("Scopes, for policies that ask about them.", maxItems=50, default=[])]
    ]
    expires_in_days: NotRequired[
        Annotated[int, Described("How long it is good for; without it, until it is revoked.", minimum=1, maximum=3650)]
    ]
    note: NotRequired[Annotated[str, Described("What it is for.", minLength=1, maxLength=200)]]


class ListTokens(TypedDict):
    """A page of tokens."""

    limit: NotRequired[Annotated[int, Described("How many at the most.", minimum=1, maximum=200, default=PAGE)]]
    cursor: NotRequired[Annotated[str, Described("Where the last page ended.", maxLength=512)]]


class RevokeToken(TypedDict):
    """Which token: one of the office's own by its id, or one of the issuer's by its jti."""

    token_id: NotRequired[TokenId]
    jti: NotRequired[Annotated[str, Described("The jti of a JWT of the issuer's.", minLength=1, maxLength=255)]]


FOR_SCOUT: dict[str, object] = {"principal": "scout", "type": "agent", "roles": ["agent"], "note": "night shift"}
A_TOKEN: tuple[str, dict[str, object]] = (f"{NAMESPACE}.create-token", FOR_SCOUT)
SHOWN = "$0.token.id"


def door_aggregate(fittings: Callable[[], Fittings], issuer: str | None) -> Aggregate:
    """Tokens, with their flows. `issuer` is the one whose tokens can be revoked here as well."""
    door = tokens_aggregate()

    @door.record(
        effect="create",
        people_only=True,
        controls=CONTROLS,
        exposed=False,
        examples=[
            Example("A token for an agent", FOR_SCOUT, reply="CREATED"),
            Example(
                "A curator's, for three months",
                {"principal": "clara", "type": "human", "roles": ["curator"], "expires_in_days": 90},
                reply="CREATED",
            ),
        ],
    )
    def create_token(unit: Unit, arguments: CreateToken) -> dict[str, Any]:
        """Make a token. Its text is a secret and not in the answer: whoever holds the office can have it written."""
        require_person(unit.context)
        days = arguments.get("expires_in_days")
        token_id = unit.new_id(ID_PREFIX)
        payload = {
            "principal": arguments["principal"],
            "type": arguments["type"],
            "roles": sorted(arguments["roles"]),
            "scopes": sorted(set(arguments.get("scopes", []))),
            "note": arguments.get("note"),
            "expires_at": None if days is None else instant_after(unit.now, days=days),
            "created_by": unit.context.principal.id,
        }
        state_created(unit, token_id, payload)
        return shown(unit, token_id)

    @door.read(people_only=True, controls=(), examples=[Example("All tokens", {}, given=(A_TOKEN,))])
    def list_tokens(reader: Reader, arguments: ListTokens) -> dict[str, Any]:
        """List tokens in the order they were made, ended ones too, a page at a time. Their texts are not shown."""
        require_person(reader.context)
        limit = arguments.get("limit", PAGE)
        found = page_of_tokens(reader, read_cursor(arguments.get("cursor")), limit + 1)
        more = write_cursor(found[limit - 1].created_at, found[limit - 1].id) if len(found) > limit else None
        return {"tokens": [token.as_data(reader.now) for token in found[:limit]], "next_cursor": more}

    @door.record(
        effect="update",
        semantics=Semantics(destructive=True, idempotent=True),
        people_only=True,
        controls=CONTROLS,
        examples=[
            Example("A token that was lost", {"token_id": SHOWN}, given=(A_TOKEN,), reply="UPDATED"),
            Example(
                "It is revoked already",
                {"token_id": SHOWN},
                given=(A_TOKEN, (f"{NAMESPACE}.revoke-token", {"token_id": SHOWN})),
                reply="NO_EFFECT",
            ),
            Example("No such token", {"token_id": "tok_nowhere"}, reply="RECORD_NOT_FOUND"),
        ],
    )
    def revoke_token(unit: Unit, arguments: RevokeToken) -> dict[str, Any]:
        """Revoke a token: from the next request on it is refused, in every process. There is no way back."""
        require_person(unit.context)
        if ("token_id" in arguments) == ("jti" in arguments):
            problem = {"problem": "name the token by token_id or by jti"}
            raise Invalid(codes.VALIDATION_ERROR, problem, field="token_id")
        if "jti" in arguments:
            return revoked_jwt(unit, issuer, arguments["jti"])
        token = existing(unit, arguments["token_id"])
        if token.revoked_at is None:
            state_revoked(unit, token)
        return shown(unit, token.id)

    for flow in (list_tokens, revoke_token):
        door.expose(flow, toolset=TOOLSET)
    return door


def may_see_tokens(fittings: Fittings, context: Context) -> bool:
    """Whether a caller may see what the ledger says about tokens: whoever may list them."""
    flow = fittings.catalogue.flow(f"{NAMESPACE}.list-tokens")
    return is_person(context) and fittings.policy.may_call(context, flow).verdict != "deny"


def require_keeper(fittings: Fittings, context: Context) -> None:
    """Refuse whoever may not revoke tokens."""
    require_person(context)
    flow = fittings.catalogue.flow(f"{NAMESPACE}.revoke-token")
    decision = fittings.policy.may_call(context, flow)
    if decision.verdict == "deny":
        raise refusal(decision, flow.ref)


def require_person(context: Context) -> None:
    """Refuse agents, services and MCP, whatever the policies say."""
    if not is_person(context):
        raise Denied(codes.PEOPLE_ONLY, {"flow": context.flow})


def is_person(context: Context) -> bool:
    """Whether a person calls, and not over an agent's channel."""
    return context.principal.type == "human" and context.surface not in MCP


def revoked_jwt(unit: Unit, issuer: str | None, jti: str) -> dict[str, Any]:
    """An issuer's token, never to be accepted here again."""
    if issuer is None:
        problem = {"problem": "this office has no issuer whose tokens it could revoke"}
        raise Invalid(codes.VALIDATION_ERROR, problem, field="jti", suggestions={"hint": WHERE_THE_ISSUER_IS})
    token_id = jwt_subject(issuer, jti)
    if find_token(unit, token_id) is None:
        state_jwt_revoked(unit, token_id, issuer, jti)
    return shown(unit, token_id)


def existing(reader: Reader, token_id: str) -> Token:
    """A token of the office's own, or Invalid."""
    token = find_token(reader, token_id)
    if token is None or not token_id.startswith(ID_PREFIX):
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "token", "id": token_id[:80]}, field="token_id")
    return token


def shown(unit: Unit, token_id: str) -> dict[str, Any]:
    """The token as it stands now."""
    token = find_token(unit, token_id)
    assert token is not None
    return {"token": token.as_data(unit.now)}
