"""Tables of secrets that must be found, and of text that must be spared, each alone and in every context."""

import json
import pathlib
from collections.abc import Callable, Sequence

import pytest

from privacy.secrets import find
from privacy.secrets.detectors import detectors
from privacy.secrets.examples import Example, made

_HERE = pathlib.Path(__file__).parent
_READABLE = str.maketrans({"⏎": "\n", "␛": "\x1b"})
_ONLY_AS_A_LINE = ("spring.datasource", "DATABASE_PASSWORD=«x7(")  # no line of settings any more inside other text


def _rows(name: str) -> list[str]:
    lines = (_HERE / name).read_text("utf-8").splitlines()
    return [line.translate(_READABLE) for line in lines if line and not line.startswith("# ")]


FOUND = [(row.partition("\t")[0], row.partition("\t")[2]) for row in _rows("cases-found.txt")]
SPARED = _rows("cases-spared.txt")
EXAMPLES = [(detector.kind, template) for detector in detectors() for template in detector.examples]
COUNTEREXAMPLES = [template for detector in detectors() for template in detector.counterexamples]


def _found(example: Example) -> list[tuple[int, int]]:
    return [(secret.start, secret.end) for secret in find(example.text)]


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Give what of a text is outside the spans."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return "\n".join(text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2))


def test_the_tables_are_as_large_as_promised() -> None:
    """There are more than 300 cases of our own each of secrets to find and of text to spare, none of them twice."""
    assert len(set(FOUND)) == len(FOUND) > 300
    assert len(set(SPARED)) == len(SPARED) > 300
    assert all(detector.examples and detector.counterexamples for detector in detectors())


@pytest.mark.parametrize(("kind", "template"), EXAMPLES + FOUND)
def test_a_secret_is_found_with_its_exact_span_and_kind(kind: str, template: str) -> None:
    """Each example is found where it stands, to the character, and is called what it is."""
    example = made(template)
    assert _found(example) == list(example.spans)
    assert find(example.text)[-1].kind == kind


@pytest.mark.parametrize(("kind", "template"), EXAMPLES + FOUND)
def test_a_secret_is_found_in_every_context(
    kind: str, template: str, contexts: dict[str, Callable[[str], str]], leak: Callable[..., str]
) -> None:
    """No context (JSON, escaped JSON, diff, colour, CRLF) leaves six characters in a row of a secret."""
    if any(mark in template for mark in _ONLY_AS_A_LINE):
        pytest.skip("is a secret only as a line of its own")
    example = made(template)
    around = _without(example.text, example.spans)
    for put in contexts.values():
        text = put(example.text)
        secrets = find(text)
        left = _without(text, [(secret.start, secret.end) for secret in secrets])
        for start, end in example.spans:
            value = example.text[start:end]
            assert not leak(value, left, around), f"{kind} in {text!r}"
            if "\n" not in value and json.dumps(value) == f'"{value}"':
                assert value in [text[secret.start : secret.end] for secret in secrets]


@pytest.mark.parametrize("template", COUNTEREXAMPLES + SPARED)
def test_what_is_no_secret_is_spared_in_every_context(template: str, contexts: dict[str, Callable[[str], str]]) -> None:
    """Code, placeholders, hashes, ids and paths survive byte for byte, wherever they stand."""
    text = made(template).text
    assert {name: found for name, put in contexts.items() if (found := find(put(text)))} == {}
