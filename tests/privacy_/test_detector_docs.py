"""The page about the detectors."""

import pathlib

import pytest

import privacy
from privacy.secrets.detectors import detectors
from privacy.secrets.table import page

PAGE = pathlib.Path(privacy.__file__).parent.parent / "docs" / "privacy-detectors.md"


def test_the_page_is_what_the_code_gives(pytestconfig: pytest.Config) -> None:
    """Whoever changes a detector writes the page anew, by `make docs`."""
    if pytestconfig.getoption("--write-docs"):
        PAGE.write_text(page(), "utf-8")
        return

    assert PAGE.read_text("utf-8") == page()


def test_every_detector_has_one_row() -> None:
    """The table names each kind, and no cell breaks it."""
    rows = [line for line in page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(detectors())
    for row in rows:
        assert row.replace("\\|", "").count("|") == 6
