"""The handoff is the context: what `session context` gives, redacted, message by message, and nothing besides."""

from pathlib import Path

import pytest
from live_sessions import SECRET, Maker
from logs import message
from quoting import difference
from rebasing import Bench, frame
from session_logs import NAMES, genuine

from foundation.errors import ContextError
from rebase.plan import Plan
from sessions.context import resolve


def quoted(bench: Bench, file: str) -> Plan:
    """Plan with a budget that is large enough."""
    bench.budget(24_000)
    plan = bench.plan(file)
    assert not plan.refusal
    return plan


@pytest.mark.parametrize("name", NAMES)
def test_a_genuine_session_is_quoted_message_by_message(bench: Bench, name: str) -> None:
    """Speakers, order and full text of each handoff are those of the context, and nothing stands between them."""
    try:
        plan = quoted(bench, genuine(name)[0])
    except ContextError:
        return  # which these are, and why, is held in test_gates
    assert difference(resolve(plan.file).messages, list(frame(plan).messages)) == ""


def test_whatever_a_session_holds_is_quoted_message_by_message(bench: Bench) -> None:
    """The same for two hundred sessions with everything in them, and their secrets stay behind."""
    secrets = 0
    for seed in range(200):
        file = bench.write(Maker(seed).session(seed % 12 + 1))
        plan = quoted(bench, file)
        assert difference(resolve(file).messages, list(frame(plan).messages)) == "", seed
        assert SECRET not in plan.handoff
        secrets += SECRET.encode() in Path(file).read_bytes()
    assert secrets > 20


def test_a_difference_is_seen(bench: Bench) -> None:
    """The measure itself: a lost, a changed, an added and a moved text are differences."""
    file = bench.log(message(1, None, "one"), message(2, 1, "two", "assistant"), message(3, 2, "three"))
    sent, said = resolve(file).messages, list(frame(bench.plan(file)).messages)
    assert difference(sent, said) == ""
    for wrong in (
        said[:-1],
        [*said[:-1], said[-1]._replace(text="thre")],
        [*said[:-1], said[-1]._replace(text="three more")],
        [said[2], said[1], said[0]],
        [said[0]._replace(role="custom"), *said[1:]],
    ):
        assert difference(sent, wrong)


def test_half_a_character_is_written_as_what_a_provider_may_get(bench: Bench) -> None:
    """Pi drops lone halves from what it sends: with any in a handoff, its lengths would be wrong at the last gate."""
    texts = [message.text for message in frame(quoted(bench, genuine("08-unicode")[0])).messages]
    assert "\ufffd" in "".join(texts)
    assert not any("\ud800" <= char <= "\udfff" for char in "".join(texts))
