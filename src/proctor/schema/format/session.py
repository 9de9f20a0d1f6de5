"""Sessions: the initial session of a case, and the final session of a run."""

from typing import Annotated, Any

from proctor.schema.format.wire_model import NULL_IS_EMPTY_DICT, WireModel


class SessionInput(WireModel):
    """The initial session of a case. `session_id` pins the session: an existing one is used unchanged."""

    app_name: str
    user_id: str
    session_id: str | None = None
    state: Annotated[dict[str, Any], NULL_IS_EMPTY_DICT] = {}


class SessionDetails(WireModel):
    """A session as stored in a result. Events and all unknown keys are preserved unchanged."""

    id: str | None = None
    app_name: str | None = None
    user_id: str | None = None
    state: dict[str, Any] | None = None
    events: list[Any] | None = None
    last_update_time: float | None = None
