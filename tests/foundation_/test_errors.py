"""Every refusal has a code with words for people, a remedy and an exit status."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from foundation.errors import CODES, INTERRUPTED, REFUSED, USAGE, ContextError

ROOT = Path(__file__).parent.parent.parent
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


@pytest.mark.parametrize("code", CODES)
def test_a_code_says_what_happened_and_what_to_do(code: str) -> None:
    """Names are stable words with hyphens; meaning and hint are sentences."""
    known = CODES[code]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert known.meaning.endswith(".")
    assert known.hint.endswith(".")
    assert known.exit_status == {"usage": USAGE, "interrupted": INTERRUPTED}.get(code, REFUSED)


def test_exit_statuses_are_those_of_the_contract() -> None:
    """Scripts rely on them."""
    assert (REFUSED, USAGE, INTERRUPTED) == (1, 2, 130)


def test_an_error_has_the_tables_words_unless_it_has_its_own() -> None:
    """A detail replaces the meaning, a hint the hint; the code always stays."""
    plain, own = ContextError("no-session"), ContextError("no-session", "Nothing.", hint="Try.")
    assert (plain.code, plain.message, plain.hint) == ("no-session", *CODES["no-session"][:2])
    assert (own.code, own.message, own.hint, str(own)) == ("no-session", "Nothing.", "Try.", "Nothing.")
    assert plain.exit_status == own.exit_status == 1


def test_an_unknown_code_is_a_defect() -> None:
    """A code that the table lacks cannot be raised."""
    with pytest.raises(KeyError):
        ContextError("no-such-code")


def test_every_code_that_is_raised_is_in_the_table() -> None:
    """A code that is misspelt would surface only where the refusal happens."""
    raised = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ContextError":
                    raised |= {argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    assert len(raised) > 30
    assert raised <= set(CODES)
