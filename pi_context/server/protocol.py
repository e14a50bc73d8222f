"""What the client may send: the one place where untrusted JSON becomes typed values.

Strict: a number is no string, and nothing is converted. Fields that are not known here are ignored, and a field that is
null is one that is not given.
"""

from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct, ValidationError, convert, field

PROTOCOL = 1
"""The version of the protocol."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
REFUSED = -32000
"""The codes of JSON-RPC, and the one for everything that has a code of ours."""

_Params = TypeVar("_Params")
_LONGEST = 4096
_Name = Annotated[str, Meta(max_length=_LONGEST)]
_Path = Annotated[str, Meta(max_length=_LONGEST, pattern=r"^/[^\x00]*\Z")]
_Deadline = Annotated[int, Meta(ge=0, le=86_400_000)]


class MisfitError(ValueError):
    """What was sent does not fit; the message says where, and holds nothing of it."""


class Context(Struct, rename="camel", frozen=True, kw_only=True):
    """How Pi stands at the moment of a call."""

    cwd: _Path
    session_file: _Path | None = None
    session_id: _Name = ""
    leaf_id: _Name | None = None
    leaf_path: list[_Name] = []
    trusted: bool | None = None
    provider: _Name = ""
    model: _Name = ""
    mode: Literal["tui", "rpc", "json", "print"] = "print"
    has_ui: bool = field(default=False, name="hasUI")
    actor: Literal["model", "user"] = "model"


class Params(Struct, rename="camel", frozen=True, kw_only=True):
    """What the parameters of every method hold."""

    deadline_ms: _Deadline | None = None


class InContext(Params, frozen=True, kw_only=True):
    """What the parameters of every method hold that asks about a session."""

    context: Context


class ToolParams(InContext, frozen=True, kw_only=True):
    """A call of a tool by the model; `confirmed` when a person agreed to the change that it asks for."""

    name: str
    arguments: dict[str, Any] = {}
    confirmed: bool = False


class LineParams(InContext, frozen=True, kw_only=True):
    """A line that a person typed, or begins to type; `confirmed` when a person agreed to what it does."""

    line: str
    confirmed: bool = False
    columns: Annotated[int, Meta(ge=40, le=400)] = 100


class Piece(Struct, rename="camel", frozen=True, kw_only=True):
    """A text of ours in a request that is about to leave."""

    id: str
    kind: Literal["tool-result", "tool-call", "handoff", "prompt"]
    text: str
    call_id: str | None = None


class EgressParams(InContext, frozen=True, kw_only=True):
    """All of our texts in one request; `also_provider` may get it too, an empty name is a provider nobody knows."""

    pieces: list[Piece]
    also_provider: _Name | None = None


class RunParams(InContext, frozen=True, kw_only=True):
    """Which plan to carry out; `window_tokens` is what Pi counts in the present context, where it knows."""

    plan_id: str
    fit: bool = False
    again: bool = False
    confirmed: bool = False
    window_tokens: Annotated[int, Meta(ge=0)] | None = None


class OperationParams(InContext, frozen=True, kw_only=True):
    """Which operation to bring to its end, or to take back."""

    operation_id: str
    confirmed: bool = False


class Resting(Struct, rename="camel", frozen=True, kw_only=True):
    """The client's answer to `leaf`."""

    idle: bool
    pending_messages: bool
    compacting: bool
    session_file: str | None = None
    leaf_id: str | None = None


class Switched(Struct, rename="camel", frozen=True, kw_only=True):
    """The client's answer to `activate`."""

    ok: bool
    session_file: str | None = None
    session_id: str | None = None
    reason: str = "failed"


def typed(value: Any, kind: type[_Params]) -> _Params:
    """Read a value as this type; raises MisfitError."""
    try:
        return convert(_given(value), kind)
    except ValidationError as error:
        _, _, place = str(error).partition(" - at ")
        raise MisfitError(f"params do not fit{' at ' + place if place else ''}") from None


def _given(value: Any) -> Any:
    """Leave out the fields that are null, in an object and in the context within it."""
    if not isinstance(value, dict):
        return value
    given = {name: inner for name, inner in value.items() if inner is not None}
    context = given.get("context")
    if isinstance(context, dict):
        given["context"] = {name: inner for name, inner in context.items() if inner is not None}
    return given
