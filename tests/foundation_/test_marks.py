"""Our own output can be told from what people and tools say."""

from foundation.canonical import dumps
from foundation.marks import ANSWER_START, HANDOFF_TYPES, OUTPUT_LINE, TOOL_NAMES


def test_every_json_answer_starts_with_its_mark() -> None:
    """An answer that puts its schema first is recognised as ours."""
    assert dumps({"schema": "context-history-result-v1", "quotedData": True}).startswith(ANSWER_START)


def test_marks_are_on_one_line_and_names_are_distinct() -> None:
    """A mark that was broken over two lines would never be found again."""
    assert "\n" not in OUTPUT_LINE + ANSWER_START
    assert len({*TOOL_NAMES, *HANDOFF_TYPES}) == len(TOOL_NAMES) + len(HANDOFF_TYPES)
