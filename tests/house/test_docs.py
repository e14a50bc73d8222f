"""The docs: whatever the code can write itself is written by the code, and a test says when it is not."""

import re
from pathlib import Path

import pytest
import written_docs

from foundation.errors import CODES
from foundation.settings import SETTINGS
from memory.filters import DEFAULTS
from pi_context.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(#[^)]*)?\)")


def name_of(page: Path) -> str:
    """Name a page by its place in the project."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_made_blocks_are_as_the_code_makes_them(page: Path, pytestconfig: pytest.Config) -> None:
    """A made block differs from the code by nothing; `make docs` writes it anew."""
    text = page.read_text("utf-8")
    made = written_docs.made_anew(text)
    if pytestconfig.getoption("--write-docs"):
        page.write_text(made, "utf-8")
        return

    assert text == made


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link to a file in the project leads to one."""
    broken = [target for target, _ in LINK.findall(page.read_text("utf-8")) if not (page.parent / target).exists()]

    assert broken == []


@pytest.mark.parametrize(
    ("maker", "names"),
    [
        ("settings", set(SETTINGS)),
        ("filters", set(DEFAULTS)),
        ("codes", set(CODES)),
        ("commands", {" ".join(verb.words) for verb in VERBS}),
    ],
)
def test_every_name_is_documented(maker: str, names: set[str]) -> None:
    """Every setting, code and command stands in the docs."""
    text = "".join(page.read_text("utf-8") for page in PAGES if f"<!-- made: {maker} -->" in page.read_text("utf-8"))

    assert {name for name in names if name not in text} == set()
