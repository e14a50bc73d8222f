"""The house itself: what import-linter cannot hold about who may do what, and where."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from index import schema
from pi_context import verbs
from sessions import entries

ROOT = Path(__file__).resolve().parents[2]
BELOW_THE_DOORS = ("foundation", "sessions", "privacy", "index", "journal", "memory", "recall", "rebase")
ROOMS = (*BELOW_THE_DOORS, "pi_context")

LONGEST_FILE = 400
"""Lines; a file that needs more is two files."""

WRITERS = {
    "makedirs", "mkdir", "rename", "replace", "link", "symlink", "unlink", "remove", "rmdir", "fsync", "truncate",
    "ftruncate", "write", "utime", "chmod",
}  # fmt: skip


def modules(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the path and the syntax tree of every module in these rooms."""
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call with its dotted name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def _body(node: ast.AST) -> list[ast.stmt]:
    body = getattr(node, "body", [])
    return body if isinstance(body, list) else []


def strings(tree: ast.Module) -> Iterator[str]:
    """Yield the string constants of a module that are no docstrings."""
    prose = {id(node.value) for parent in ast.walk(tree) for node in _body(parent) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_logic_never_speaks_or_looks_around() -> None:
    """Below the doors nobody prints, asks the environment or the home folder, the clock, or for random numbers."""
    forbidden = re.compile(
        r"print|input|(os\.)?(getenv|environ\b.*|expanduser|urandom|getcwd)|os\.path\.expanduser"
        r"|time\.(time|time_ns|monotonic|perf_counter)|datetime\.(now|today|utcnow)|random\..*|secrets\.token.*|uuid\..*"
    )
    found = [
        f"{path}: {name}"
        for path, tree in modules(*BELOW_THE_DOORS)
        for name, _ in calls(tree)
        if forbidden.fullmatch(name)
    ]
    named = [
        f"{path}: os.environ"
        for path, tree in modules(*BELOW_THE_DOORS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "environ"
    ]

    assert found + named == []


def test_only_durable_changes_files() -> None:
    """Effects on the disk happen in foundation/durable alone, so that tests can count, fail and crash them."""
    found = [
        f"{path}: {name}"
        for path, tree in modules(*ROOMS)
        if path != "foundation/durable.py"
        for name, call in calls(tree)
        if (name.startswith("os.") and name.split(".")[-1] in WRITERS) or _opens_for_writing(name, call)
    ]

    assert found == []


def _opens_for_writing(name: str, call: ast.Call) -> bool:
    if name == "open":
        mode = next((ast.unparse(word.value) for word in call.keywords if word.arg == "mode"), "")
        mode += ast.unparse(call.args[1]) if len(call.args) > 1 else ""
        return any(letter in mode for letter in "wax+")
    text = ast.unparse(call)
    return (
        name == "os.open" and any(flag in text for flag in ("O_WRONLY", "O_RDWR", "O_CREAT")) and "devnull" not in text
    )


def test_sql_lives_in_the_index_and_in_the_shells_references() -> None:
    """Nobody but index/ and the shell's table of references knows SQL."""
    sql = re.compile(
        r"\b(select\b.+\bfrom|insert (or \w+ )?into|delete from|update \w+ set|create table)\b",
        re.IGNORECASE | re.DOTALL,
    )
    allowed = ("index/", "pi_context/shell_references.py")
    found = [
        f"{path}: {text[:40]}"
        for path, tree in modules(*ROOMS)
        if not path.startswith(allowed)
        for text in strings(tree)
        if sql.search(text)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("maker", "only"),
    [
        ("RedactedText", "privacy/redaction.py"),
        ("VisibleText", "memory/visibility.py"),
        ("AuthorisedScope", "recall/scope.py"),
    ],
)
def test_a_safe_type_is_made_in_one_place(maker: str, only: str) -> None:
    """Redacted text, visible text and authorised scopes are each made in the one module that makes them safe."""
    makers = {path for path, tree in modules(*ROOMS) for name, _ in calls(tree) if name.split(".")[-1] == maker}

    assert makers == {only}


def test_every_list_of_roles_is_the_same() -> None:
    """What the help lists, what a search accepts and what the index can store are the same roles."""
    assert list(verbs.ROLES) == list(entries.ROLES)
    assert sorted(schema.ROLES) == sorted(("", *entries.ROLES))


def test_files_stay_small() -> None:
    """No module grows beyond what can be read at one sitting."""
    long = [
        f"{path.relative_to(ROOT)}: {count}"
        for room in (*ROOMS, "tests")
        for path in (ROOT / room).rglob("*.py")
        if (count := path.read_text("utf-8").count("\n")) > LONGEST_FILE
    ]

    assert long == []


def test_every_module_says_what_it_promises() -> None:
    """Each module opens with a docstring; ruff holds public functions and classes to the same."""
    silent = [path for path, tree in modules(*ROOMS) if not ast.get_docstring(tree)]

    assert silent == []
