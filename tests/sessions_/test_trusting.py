"""Trust is what Pi would decide without asking, from the same files, and damage never trusts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sessions.trusting import has_protected, saved_decision, trusted


class _Place:
    """A home with an agent folder and a project some folders deep."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.agent = self.home / ".pi" / "agent"
        self.project = self.home / "work" / "proj"
        self.agent.mkdir(parents=True)
        self.project.mkdir(parents=True)

    def protect(self) -> None:
        (self.project / ".pi").mkdir(exist_ok=True)
        (self.project / ".pi" / "settings.json").write_text("{}")

    def save(self, decisions: Any) -> None:
        text = decisions if isinstance(decisions, str) else json.dumps(decisions)
        (self.agent / "trust.json").write_text(text)

    def default(self, text: str) -> None:
        (self.agent / "settings.json").write_text(text)

    def trusted(self, override: bool | None = None, cwd: Path | None = None) -> bool:
        return trusted(
            agent_dir=os.fspath(self.agent),
            cwd=os.fspath(cwd or self.project),
            override=override,
            home=os.fspath(self.home),
        )

    def saved(self, cwd: Path | None = None) -> bool | None:
        return saved_decision(agent_dir=os.fspath(self.agent), cwd=os.fspath(cwd or self.project))

    def protected(self) -> bool:
        return has_protected(cwd=os.fspath(self.project), home=os.fspath(self.home))


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    return _Place(tmp_path)


def test_a_project_without_protected_resources_needs_no_decision(place: _Place) -> None:
    """Nothing to load is nothing to ask about, whatever the default; a saved refusal holds all the same."""
    place.default('{"defaultProjectTrust": "never"}')
    assert place.trusted()
    assert place.saved() is None
    place.save({os.fspath(place.project): False})
    assert not place.trusted()


@pytest.mark.parametrize(
    "name", ["settings.json", "mcp.json", "extensions", "skills", "prompts", "themes", "SYSTEM.md", "APPEND_SYSTEM.md"]
)
def test_each_protected_resource_needs_a_decision(place: _Place, name: str) -> None:
    """Each file or folder that Pi loads only with trust makes the project untrusted until someone decides."""
    (place.project / ".pi").mkdir()
    assert not place.protected()
    (place.project / ".pi" / name).mkdir()
    assert place.protected()
    assert not place.trusted()
    place.save({os.fspath(place.project): True})
    assert place.trusted()


def test_our_own_settings_file_is_no_protected_resource(place: _Place) -> None:
    """A bare `.pi` folder, with our file in it, asks for nothing; so it must not loosen anything."""
    (place.project / ".pi").mkdir()
    (place.project / ".pi" / "context.json").write_text("{}")
    assert place.trusted()
    assert place.saved() is None


@pytest.mark.parametrize("where", ["work/proj", "work", "."])
def test_skills_of_agents_count_in_the_project_and_above(place: _Place, where: str) -> None:
    """`.agents/skills` of any folder above needs a decision, but in the home it is the owner's own."""
    (place.home / where / ".agents" / "skills").mkdir(parents=True)
    assert place.protected() is (where != ".")


def test_the_owners_skills_are_his_own_through_a_link_too(place: _Place) -> None:
    """A home that is reached through a link is the same home."""
    (place.home / ".agents" / "skills").mkdir(parents=True)
    link = place.root / "link"
    link.symlink_to(place.home)
    assert not has_protected(cwd=os.fspath(link / "work" / "proj"), home=os.fspath(link))


def test_an_override_comes_before_everything(place: _Place) -> None:
    """`--approve` and `--no-approve` decide for one command, also over damage."""
    place.protect()
    place.save("{broken")
    assert place.trusted(override=True)
    place.save({os.fspath(place.project): True})
    assert not place.trusted(override=False)


def test_the_nearest_saved_decision_counts(place: _Place) -> None:
    """A decision for a folder above holds until one nearer is found; null is none."""
    place.protect()
    cases: list[tuple[dict[Path, bool | None], bool | None]] = [
        ({place.home: True}, True),
        ({place.home: True, place.home / "work": False}, False),
        ({place.home: False, place.project: True}, True),
        ({place.home: True, place.project: None}, True),
        ({place.project / "below": True}, None),
        ({place.root / "elsewhere": True}, None),
        ({Path("/"): True}, True),
        ({}, None),
    ]
    for decisions, expected in cases:
        place.save({os.fspath(path): decision for path, decision in decisions.items()})
        assert place.saved() is expected
        assert place.trusted() is bool(expected)


def test_decisions_go_by_the_real_folder(place: _Place) -> None:
    """A link to a trusted folder is trusted, a trusted link name says nothing about its target."""
    link = place.root / "link"
    link.symlink_to(place.project)
    place.protect()
    place.save({os.fspath(place.project) + "/": True})
    assert place.saved(link) is True
    place.save({os.fspath(link): True})
    assert place.saved(link) is None
    place.save({os.fspath(place.home / "work" / "x" / ".." / "proj"): True, "relative": False, "~": False})
    assert place.saved() is True


@pytest.mark.parametrize(
    "damage",
    ["", "{broken", "[]", "null", '"x"', "5", "{} {}", '{"/elsewhere": "yes"}', '{"/elsewhere": 1}', "NaN", "[" * 9999],
)
def test_a_damaged_store_trusts_nothing(place: _Place, damage: str) -> None:
    """What cannot be read refuses, also for a project that would need no decision."""
    place.save(damage)
    assert place.saved() is False
    assert not place.trusted()
    place.protect()
    place.default('{"defaultProjectTrust": "always"}')
    assert not place.trusted()


def test_a_store_that_is_no_file_trusts_nothing_and_blocks_nothing(place: _Place) -> None:
    """A folder or a pipe in its place refuses at once."""
    (place.agent / "trust.json").mkdir()
    assert place.saved() is False
    (place.agent / "trust.json").rmdir()
    os.mkfifo(place.agent / "trust.json")
    assert place.saved() is False


def test_a_store_with_a_byte_order_mark_is_read(place: _Place) -> None:
    """What an editor left in front does not matter, to Pi neither."""
    place.save("\ufeff" + json.dumps({os.fspath(place.project): True}))
    assert place.saved() is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"defaultProjectTrust": "always"}', True),
        ('{"defaultProjectTrust": "never"}', False),
        ('{"defaultProjectTrust": "ask"}', False),
        ('{"defaultProjectTrust": true}', False),
        ('{"defaultProjectTrust": "ALWAYS"}', False),
        ("{broken", False),
        ('["always"]', False),
        ("{}", False),
    ],
)
def test_without_a_decision_the_global_default_holds(place: _Place, text: str, *, expected: bool) -> None:
    """Only `always` trusts without asking, and only from the owner's own file."""
    place.protect()
    place.default(text)
    assert place.trusted() is expected


def test_a_project_cannot_trust_itself(place: _Place) -> None:
    """The default is read from the global file alone."""
    (place.project / ".pi").mkdir()
    (place.project / ".pi" / "settings.json").write_text('{"defaultProjectTrust": "always"}')
    assert not place.trusted()


@pytest.mark.parametrize("cwd", ["/\ud83d", "/a\0b", "/" + "a/" * 100_000, "/" + "x" * 300])
def test_a_folder_that_cannot_exist_does_not_fail(place: _Place, cwd: str) -> None:
    """A project named by a log may be nonsense; asking about it ends with an answer."""
    assert isinstance(trusted(agent_dir=os.fspath(place.agent), cwd=cwd, override=None, home="/root"), bool)
