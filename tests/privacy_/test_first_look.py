"""The first look knows as a constant what the detectors look for, so that clean text needs no detector."""

import subprocess
import sys
from pathlib import Path

import pytest

from privacy.secrets import triggers
from privacy.secrets.invisible import INVISIBLE
from privacy.secrets.scanning import trigger

_WIDTH = 84


def _made() -> str:
    """Write the module that holds the patterns ready."""
    lines = [
        '"""What the detectors look for, held ready for the first look; written by `make docs`, never by hand."""',
        "",
    ]
    for name, pattern in (("TRIGGERS", trigger()), ("INVISIBLE", INVISIBLE)):
        lines += [f"{name} = (", *(f"    {pattern[at : at + _WIDTH]!r}" for at in range(0, len(pattern), _WIDTH)), ")"]
    return "\n".join(lines) + "\n"


def test_the_patterns_held_ready_are_those_of_the_detectors(pytestconfig: pytest.Config) -> None:
    """A detector that looks elsewhere is looked for there: `make docs` writes the constants anew."""
    if pytestconfig.getoption("--write-docs"):
        Path(triggers.__file__).write_text(_made(), "utf-8")
        return

    assert trigger() == triggers.TRIGGERS
    assert triggers.INVISIBLE == INVISIBLE


def test_clean_text_imports_no_detector() -> None:
    """Redacting text without any trigger loads the first look and nothing else of the detectors."""
    script = (
        "import sys; from privacy.redaction import redact; redact('plain words'); "
        "print(sorted(name for name in sys.modules if name.startswith('privacy.secrets.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)

    assert eval(done.stdout) == ["privacy.secrets.first_look", "privacy.secrets.triggers"]
