"""The example plugin outside the core: the rule of eighty percent, both borders inclusive."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from shelled import Shell

from pi_context import filters_seen

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "promotional_senders" / "promotional_senders.py"


@pytest.fixture
def plugin() -> Any:
    """Give its module."""
    spec = importlib.util.spec_from_file_location("promotional_senders", PLUGIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mail(name: str, domain: str, promotions: int, others: int) -> list[dict[str, str]]:
    """Give what a sender sent."""
    kinds = ["promotions"] * promotions + ["updates"] * others
    return [{"name": name, "domain": domain, "category": kind} for kind in kinds]


@pytest.mark.parametrize(
    ("promotions", "others", "excluded"), [(4, 1, True), (3, 1, False), (4, 2, False), (8, 2, True), (5, 0, True)]
)
def test_the_borders(plugin: Any, promotions: int, others: int, *, excluded: bool) -> None:
    """Five messages are enough, and four of five are eighty percent."""
    found = plugin.promotional(mail("Mega Deals", "deals.example", promotions, others), plugin.DEFAULTS)
    assert found == ({"Mega Deals", "deals.example"} if excluded else set())


def test_asked_by_the_map(
    shell: Shell, plugin: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found by its entry point, asked once, its names folded; one that fails gives nothing, and a line with its error."""
    asked: list[str] = []

    class Point:
        """An installed entry point."""

        def __init__(self, name: str, does: Any) -> None:
            self.name, self.does = name, does

        def load(self) -> Any:
            """Give the function."""
            asked.append(self.name)
            return self.does

    def broken() -> list[str]:
        raise RuntimeError("the words of nobody")

    settings = shell.home / "promotional.yaml"
    settings.write_text("mail: mail.jsonl\nminMessages: 2\n")
    lines = [json.dumps(each) for each in mail("Mega Deals, Inc.", "deals.example", 2, 0)]
    (shell.home / "mail.jsonl").write_text("\n".join(lines))
    monkeypatch.setenv("PROMOTIONAL_SENDERS", str(settings))
    points = [Point("promotional-senders", plugin.names), Point("broken", broken)]
    monkeypatch.setattr(filters_seen, "entry_points", lambda group: points if group == "pi_context.exclusions" else [])
    from memory.names import Fold

    assert filters_seen.excluded(Fold()) == {"mega deals", "deals.example"}
    assert asked == ["promotional-senders", "broken"]
    said = capsys.readouterr().err
    assert "RuntimeError" in said
    assert "nobody" not in said
