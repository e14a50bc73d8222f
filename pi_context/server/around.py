"""What surrounds one call from Pi: everything that the shell finds out from options and environment, Pi has told.

The audience is the provider of the live model. A model is never the owner; a person is for what they confirmed.
"""

import os
import stat
from collections.abc import Callable
from functools import cached_property
from typing import Any

from foundation.errors import ContextError
from pi_context import configuration
from pi_context.configuration import Configuration
from pi_context.server.leaves import nearest_written
from pi_context.server.protocol import Context, Resting
from pi_context.server.state import State
from pi_context.surroundings import Surroundings
from pi_context.verbs import GLOBAL_OPTIONS, Words
from privacy.audiences import REMOTE, Audience, audience_of, provider_audience
from recall.here import Here
from recall.references import References
from sessions import pi_files
from sessions.locating import LogFile, read_header, session_id

_LEAF_SECONDS = 10.0


class _Words(dict[str, Any]):
    """The words of a call; Pi's live leaf is looked for in the file when it is first asked for."""

    def __init__(self, given: Words, leaf: Callable[[], str | None]) -> None:
        super().__init__(given)
        self._leaf = leaf

    def __missing__(self, name: str) -> str | None:
        if name != "leaf":
            raise KeyError(name)
        return self.setdefault(name, self._leaf())


class InsidePi(Surroundings):
    """The surroundings of a call."""

    def __init__(self, state: State, pi: Context, words: Words | None = None, *, confirmed: bool = False) -> None:
        variables = {name: value for name, value in state.variables.items() if name != "PI_SESSION_FILE"}
        if pi.session_file is not None:
            variables["PI_SESSION_FILE"] = pi.session_file
        given: Words = {option.name: None for option in GLOBAL_OPTIONS} | (words or {})
        given |= {name: state.words[name] for name in ("agent_dir", "session_dir")}
        del given["leaf"]
        super().__init__(_Words(given, self._leaf), variables, terminal=False)
        self.state, self.pi, self.confirmed = state, pi, confirmed
        self.mark = state.mark or ("" if pi.actor == "user" else "the model")
        self.current_folder = pi.cwd
        self.references = state.references

    def _leaf(self) -> str | None:
        """Give the live leaf as far as it is written; None for the last entry."""
        if self.pi.leaf_id is None or self.session is None:
            return None
        return nearest_written(self.session.path, (self.pi.leaf_id, *self.pi.leaf_path))

    @cached_property
    def session(self) -> LogFile | None:
        """The session that Pi runs; None where it has no file, or none yet."""
        if self.pi.session_file is None:
            return None
        path = pi_files.real(pi_files.absolute(self.pi.session_file, base=self.pi.cwd, home=self.home))
        try:
            known = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(known.st_mode):
            return None
        if self.visibility.hidden_sessions and self.visibility.is_removed(session_id(path, read_header(path))):
            raise ContextError("session-removed")
        return LogFile(path, known)

    @cached_property
    def project(self) -> str:
        """The folder that Pi works in."""
        return self.pi.cwd

    @cached_property
    def own_project(self) -> str:
        """The same: there is no other here."""
        return self.pi.cwd

    @cached_property
    def trusted(self) -> bool:
        """What Pi says; an older Pi that cannot be asked goes by what it saved."""
        return super().trusted if self.pi.trusted is None else self.pi.trusted

    @cached_property
    def override(self) -> bool | None:
        """Nobody overrides Pi here."""
        return False if self.pi.trusted is False else None

    @cached_property
    def configuration(self) -> Configuration:
        """The settings that the server began with for this project."""
        known, key = self.state.configurations, (self.project, self.override)
        if key not in known:
            known[key] = configuration.load(self.agent_dir, self.project, may_loosen=self._may_loosen)
        return known[key]

    @cached_property
    def owner(self) -> bool:
        """Whether a person typed this and agreed to it; where nobody can be asked, nobody agreed."""
        return not self.mark and self.pi.has_ui and self.confirmed

    @cached_property
    def provider(self) -> Audience:
        """The provider of the live model; nobody knows whose it is where a model's shell started all of this."""
        return REMOTE if self.state.mark else provider_audience(self.pi.provider, self.configuration.values)

    @cached_property
    def audience(self) -> Audience:
        """The provider of the live model, unless a person named another audience."""
        named = self.words["audience"]
        if named is None:
            return self.provider
        chosen = audience_of(named, self.configuration.values)
        if chosen.local:
            self.require_owner()
        return chosen

    def require_owner(self) -> None:
        """Refuse what only the owner may do; raises ContextError, `confirmation-required` where a person can agree."""
        if not self.owner:
            can_be_asked = not self.mark and self.pi.has_ui
            raise ContextError("confirmation-required" if can_be_asked else "owner-act-required")

    def require_user(self) -> None:
        """Refuse what no model may ask for."""
        if self.mark:
            raise ContextError("owner-act-required")

    def at_rest(self) -> bool:
        """Ask Pi whether it is at rest in this session."""
        return not self.obstacle(leaf=False)

    def obstacle(self, *, leaf: bool) -> str:
        """Ask Pi what stands against a rebase now: a code, or empty; with `leaf` also whether the leaf moved.

        Raises ContextError `client-gone` where Pi does not answer.
        """
        now = self.state.client.ask("leaf", {}, Resting, seconds=_LEAF_SECONDS)
        if not now.idle or now.pending_messages or now.compacting or now.session_file != self.pi.session_file:
            return "session-busy"
        return "source-grew" if leaf and now.leaf_id != self.pi.leaf_id else ""

    def here(self, references: References) -> Here:
        """Hand everything to recall; what only a shell offers, no one is offered here."""
        return super().here(references)._replace(owner=False)
