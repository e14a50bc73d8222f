"""Put together what a command works with: folders, settings, who asks, which session; refuse what an agent may not.

Owner acts need a person at a terminal and no mark of an agent in the environment; `owner.scripts` stands in for the
terminal, never for the mark. Under a mark only the current project can be reached.
"""

import os
from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from foundation.durable import RealFiles
from foundation.errors import ContextError
from index.masks import Mask
from memory.visibility import Visibility
from pi_context import configuration, environment, lineages
from pi_context.configuration import Configuration
from pi_context.exclusions import excluded_sessions
from pi_context.pending import pending
from pi_context.verbs import Words
from pi_context.visible import Ledgers
from privacy.audiences import LOCAL, REMOTE, Audience, audience_of
from recall.here import Here
from recall.references import References
from sessions.locating import (
    LogFile,
    canonical,
    find_session,
    newest,
    of_project,
    read_header,
    session_files,
    session_folders,
    session_id,
    sessions,
)

if TYPE_CHECKING:
    from memory.filters import Filters

OWN_FOLDER = "pi-context"
"""Our folder below the agent folder: index, exclusions, and what else is ours."""

KEYS_FOLDER = "keys"
"""The folder of this installation's keys below that, which need not exist."""


class Surroundings:
    """Everything around one command, each part found out when it is first needed."""

    def __init__(self, words: Words, variables: Mapping[str, str], *, terminal: bool) -> None:
        self.words, self.variables, self.terminal = words, variables, terminal
        for name in ("session", "project", "agent_dir", "session_dir"):
            if words[name] == "":  # an unset variable in a script: what is taken in its place is never what was meant
                raise ContextError("usage", f"--{name.replace('_', '-')} is empty.")
        self.mark = environment.agent_mark(variables)
        self.agent_dir = environment.agent_dir(variables, words["agent_dir"])
        self.own_folder = os.path.join(self.agent_dir, OWN_FOLDER)
        self.keys_folder = os.path.join(self.own_folder, KEYS_FOLDER)
        self.current_folder = os.getcwd()
        self.home = environment.home()
        self.disk = RealFiles()
        self._ledgers = Ledgers(self.own_folder, self.keys_folder)
        self.references: References | None = None

    @cached_property
    def session(self) -> LogFile | None:
        """The current session: the option, else the environment's, else the newest of the project."""
        wanted = self.words["session"]
        given = wanted or self.variables.get("PI_SESSION_FILE")
        if given:
            return self.other_session(given)
        try:
            return newest(self.files, self.project, without=self._out_of_reach).file
        except ContextError:
            return None

    @cached_property
    def project(self) -> str:
        """The project's working folder: the option, else that of the session named, else the current folder."""
        named: str | None = self.words["project"]
        if named:
            folder = os.path.abspath(os.path.expanduser(named))
            if self.mark and canonical(folder) != canonical(self.own_project):
                raise ContextError("outside-project")
            return folder
        if self.mark:
            return self.own_project
        if self.words["session"] and self.session:
            return read_header(self.session.path).cwd or self.current_folder
        return self.current_folder

    @cached_property
    def own_project(self) -> str:
        """The project that an agent works in: that of the session it runs in, else the current folder."""
        running = self.variables.get("PI_SESSION_FILE")
        try:
            return (read_header(running).cwd if running else "") or self.current_folder
        except ContextError:
            return self.current_folder

    @cached_property
    def files(self) -> list[LogFile]:
        """The session files of the folders in force, the most recently written first; none that is deleted for good."""
        override = self.words["session_dir"] or self.variables.get("PI_CODING_AGENT_SESSION_DIR")
        where = self.words["project"] or self.current_folder
        found = session_folders(agent_dir=self.agent_dir, override=override, cwd=where, home=self.home)
        gone = self.visibility_everywhere.deleted_sessions
        listed = session_files(found)
        return [file for file in listed if _identity(file) not in gone] if gone else listed

    @cached_property
    def trusted(self) -> bool:
        """Whether Pi trusts the project."""
        from sessions import trusting

        return trusting.trusted(agent_dir=self.agent_dir, cwd=self.project, override=self.override, home=self.home)

    @cached_property
    def configuration(self) -> Configuration:
        """The settings in force."""
        return configuration.load(self.agent_dir, self.project, may_loosen=self._may_loosen)

    def _may_loosen(self) -> bool:
        """Tell whether the project's settings may show more than the owner's: only where the owner trusts it."""
        from sessions import trusting

        if self.override is not None:
            return self.override
        return trusting.saved_decision(agent_dir=self.agent_dir, cwd=self.project) is True

    @cached_property
    def override(self) -> bool | None:
        """What `--approve` or `--no-approve` says about trust; an agent may not approve for the owner."""
        if self.words["no_approve"]:
            return False
        if self.words["approve"] and self.mark:
            raise ContextError("owner-act-required")
        return True if self.words["approve"] else None

    @cached_property
    def owner(self) -> bool:
        """Whether owner acts are allowed: no agent started us, and a person is there or the owner said scripts may."""
        return not self.mark and (self.terminal or self.configuration.values["owner.scripts"] is True)

    @cached_property
    def audience(self) -> Audience:
        """Who will see the answer; the owner by default, an unknown remote provider where that may not be."""
        named = self.words["audience"]
        if named is None:
            return LOCAL if self.owner else REMOTE
        chosen = audience_of(named, self.configuration.values)
        if chosen.local:
            self.require_owner()
        return chosen

    @cached_property
    def reveal(self) -> bool:
        """Whether the owner wants to see secrets as they are. Raises ContextError where another asks for that."""
        if self.words["reveal"]:
            self.require_owner()
        return bool(self.words["reveal"])

    def require_owner(self) -> None:
        """Refuse what only the owner may do. Raises ContextError with `owner-act-required`."""
        if not self.owner:
            why = f" ({self.mark} says that an agent runs this.)" if self.mark else ""
            raise ContextError("owner-act-required", f"Only the owner may do this.{why}")

    @cached_property
    def visibility(self) -> Visibility:
        """What of this project may be seen: one generation of its removal ledger."""
        return self.visibility_of(canonical(self.project))

    @property
    def visibility_everywhere(self) -> Visibility:
        """The same for all projects at once."""
        return self._ledgers.everywhere

    def visibility_of(self, project: str) -> Visibility:
        """Give what may be seen of a project, by its canonical folder; its ledger is read once."""
        return self._ledgers.of(project)

    def _is_ephemeral(self, identity: str) -> bool:
        """Tell whether a session counts for nobody but itself; the owner's filters are read when it is first asked."""
        return self._filters.is_ephemeral(identity)

    @cached_property
    def _filters(self) -> "Filters":
        from pi_context import filters_seen

        try:
            return filters_seen.load(self.own_folder)
        except ContextError:  # the map says what is wrong with the file; a search goes by the defaults
            return filters_seen.usual()

    def masks(self, cwd: str) -> Mask | None:
        """Give what is masked before sessions of a working folder are indexed: names that were deleted for good."""
        deleted = self.visibility_of(canonical(cwd)).deleted
        return None if deleted is None else lambda text: deleted.masked(text)[0]

    @cached_property
    def _out_of_reach(self) -> frozenset[str]:
        """The sessions that may not even be named: the removed ones, for an agent also the excluded ones."""
        return self.visibility.hidden_sessions | (excluded_sessions(self.own_folder) if self.mark else frozenset())

    def may_be_named(self, path: str) -> bool:
        """Tell whether a session file may be spoken of: to an agent only those of its project that it may search."""
        return self._nameable is None or path in self._nameable

    @cached_property
    def _nameable(self) -> frozenset[str] | None:
        if not self.mark:
            return None
        of_ours = of_project(sessions(self.files), self.own_project)
        return frozenset(found.file.path for found in of_ours if found.header.id not in self._out_of_reach)

    def told_path(self, path: str) -> str:
        """Give the path of a session file as it may be told: to an agent its name alone."""
        return os.path.basename(path) if self.mark else path

    def other_session(self, wanted: str) -> LogFile:
        """Find a session by its file or the start of its id, within what may be reached."""
        only = self.own_project if self.mark else None
        found = find_session(wanted, files=self.files, cwd=self.current_folder, home=self.home, project=only)
        header = read_header(found.path)
        identity = session_id(found.path, header)
        if self.mark and identity in excluded_sessions(self.own_folder):
            raise ContextError("session-not-found")
        if self.visibility_of(canonical(header.cwd)).is_removed(identity):
            raise ContextError("session-not-found" if self.mark else "session-removed")
        return found

    def session_id(self, wanted: str) -> str:
        """Give the whole id of a session named by its file or the start of its id."""
        file = self.other_session(wanted)
        return session_id(file.path, read_header(file.path))

    def at_rest(self) -> bool | None:
        """Tell whether Pi is at rest in the session; None where no Pi can be asked."""
        return None

    def here(self, references: References) -> Here:
        """Hand everything to recall."""
        reveal = self.reveal  # what only the owner may do is refused before anything is looked at
        return Here(
            index_folder=self.own_folder,
            disk=self.disk,
            clock=environment.clock,
            values=self.configuration.values,
            audience=self.audience,
            owner=self.owner,
            files=lambda: self.files,
            project=canonical(self.project),
            trusted=lambda: self.trusted,
            session=self.session,
            leaf=self.words["leaf"],
            excluded=excluded_sessions(self.own_folder),
            visibility=self.visibility,
            everywhere=lambda: self.visibility_everywhere,
            masks=self.masks,
            is_ephemeral=self._is_ephemeral,
            references=references,
            reveal=reveal,
            pending=partial(pending, self),
            descend=partial(lineages.descend, self),
        )


def _identity(file: LogFile) -> str:
    try:
        return session_id(file.path, read_header(file.path))
    except (ContextError, OSError):
        return ""
