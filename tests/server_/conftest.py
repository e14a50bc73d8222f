"""For the tests of the server: a project with a session, and a server with a scripted client."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_desk import Desk
from served import Served


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Give a machine on which a Pi could run; every server is ended afterwards."""
    made = Desk(tmp_path)
    yield made
    made.leave()


@pytest.fixture
def serve(desk: Desk) -> Callable[..., Served]:
    """Give what starts a server for the desk's session."""

    def start(**changed: Any) -> Served:
        return desk.serve(**changed)

    return start
