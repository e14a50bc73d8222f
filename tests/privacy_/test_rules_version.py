"""The version of the rules: it changes whenever a rule does."""

import ast
import hashlib
import json
import pathlib
import subprocess
import sys
from typing import Any

import privacy.secrets
from privacy.secrets import scanning, tokens, version
from privacy.secrets.version import RULES_VERSION

# The digest of the code of the detectors for each value of `_JUDGEMENT`. After a change of what is found: raise
# `_JUDGEMENT` in privacy/secrets/version.py and add a line here. After a change that finds the same (a name, a
# faster way): put the new digest in the last line.
KNOWN = {1: "08d68695e533", 2: "42ca398f0375"}
_FOLDER = pathlib.Path(privacy.secrets.__file__).parent
_WITHOUT_JUDGEMENT = {"__init__.py", "version.py", "table.py", "detectors.py", "examples.py", "model.py", "triggers.py"}


def test_a_change_of_the_judgement_raises_its_number() -> None:
    """Nobody changes the code that judges without deciding whether indexes have to be made again."""
    assert KNOWN[version._JUDGEMENT] == _digest_of_the_code()
    assert max(KNOWN) == version._JUDGEMENT


def test_the_version_is_the_same_in_every_process() -> None:
    """It depends on the rules alone: not on the order of sets, nor on the process."""
    script = "from privacy.secrets.version import RULES_VERSION; print(RULES_VERSION)"
    for seed in ("0", "1", "2"):
        answer = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=_FOLDER.parent.parent,
            env={"PYTHONHASHSEED": seed},
        )
        assert answer.stdout.strip() == RULES_VERSION


def test_a_change_of_a_parameter_changes_the_version(monkeypatch: Any) -> None:
    """A new prefix, another length, another alphabet: each gives the rules another name."""
    first = tokens.TOKENS[0]
    for change in ({"low": first.low + 1}, {"high": 999}, {"alphabet": "hex"}, {"plain": True}, {"prefixes": ("x_",)}):
        monkeypatch.setattr(version, "TOKENS", (first._replace(**change), *tokens.TOKENS[1:]))
        assert version._digest() != RULES_VERSION.partition("-")[2], change


def test_a_change_of_a_pattern_changes_the_version(monkeypatch: Any) -> None:
    """A trigger that looks elsewhere gives the rules another name."""
    monkeypatch.setattr(version, "trigger", lambda: scanning.trigger() + b"|new")
    assert version._digest() != RULES_VERSION.partition("-")[2]


def test_examples_are_no_rules(monkeypatch: Any) -> None:
    """Another example or description makes no index old."""
    changed = tuple(token._replace(what="other words", examples=(), counterexamples=()) for token in tokens.TOKENS)
    monkeypatch.setattr(version, "TOKENS", changed)
    assert version._digest() == RULES_VERSION.partition("-")[2]


def _digest_of_the_code() -> str:
    """Digest what the modules do; docstrings, comments, layout, and the tables of examples do not count."""
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.py")):
        if path.name not in _WITHOUT_JUDGEMENT:
            digest.update(json.dumps([path.name, _shape(_stripped(ast.parse(path.read_text("utf-8"))))]).encode())
    return digest.hexdigest()[:12]


def _stripped(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            body = node.body
            if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                node.body = body[1:]
    tree.body = [node for node in tree.body if not _is_table(node)]
    return tree


def _is_table(node: ast.stmt) -> bool:
    """Tell whether a statement sets `DETECTORS` or `TOKENS`: words and examples, or parameters hashed by themselves."""
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("DETECTORS", "TOKENS")


def _shape(node: Any) -> Any:
    """Give a syntax tree as lists, alike for all versions of Python: empty fields and contexts are left out."""
    if isinstance(node, ast.AST):
        fields = [(name, _shape(value)) for name, value in ast.iter_fields(node) if name not in ("ctx", "kind")]
        return [type(node).__name__, *([name, value] for name, value in fields if value not in (None, []))]
    if isinstance(node, list):
        return [_shape(value) for value in node]
    return node if isinstance(node, str | int | float | None) else repr(node)
