"""The one table of commands: it makes the command line, its help, the docs, and the short way past click.

A command's code is imported only when it runs.
"""

from typing import Any, NamedTuple

from foundation.settings import SCOPES


class Option(NamedTuple):
    """An option: its flags, the long one last; what it takes; what it does; what may be given, and whether repeatedly.

    `takes` is `flag` for nothing, `choice` for one of `choices`, `N` for a whole number, else what the help calls the
    word that it takes; of such a word `choices` are only what a shell may complete.
    """

    flags: tuple[str, ...]
    takes: str
    help: str
    choices: tuple[str, ...] = ()
    repeats: bool = False

    @property
    def name(self) -> str:
        """The name under which a command finds the value."""
        return self.flags[-1].lstrip("-").replace("-", "_")


class Argument(NamedTuple):
    """A word of a command: its name in the help, whether it may be left out, whether it takes all that is left."""

    label: str
    optional: bool = False
    rest: bool = False
    number: bool = False
    choices: tuple[str, ...] = ()
    name_: str = ""

    @property
    def name(self) -> str:
        """The name under which a command finds the value."""
        return self.name_ or self.label.lower()


class Verb(NamedTuple):
    """A command: its words, the function that does it (`module:function` below `commands`), summary, and its words.

    A hidden one is for programs; the help does not list it.
    """

    words: tuple[str, ...]
    does: str
    help: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    more: str = ""
    hidden: bool = False


def flag(*flags: str, help: str) -> Option:
    """Declare an option that is there or not."""
    return Option(flags, "flag", help)


def text(
    *flags: str,
    label: str,
    help: str,
    repeats: bool = False,
    suggests: tuple[str, ...] = (),
) -> Option:
    """Declare an option that takes a word; `suggests` what a shell may complete, the command itself decides."""
    return Option(flags, label, help, suggests, repeats)


def number(*flags: str, help: str) -> Option:
    """Declare an option that takes a whole number."""
    return Option(flags, "N", help)


def choice(*flags: str, choices: tuple[str, ...], help: str) -> Option:
    """Declare an option that takes one of a few words."""
    return Option(flags, "choice", help, choices)


GLOBAL_OPTIONS = (
    text("--agent-dir", label="DIR", help="Pi's agent folder  [$PI_CODING_AGENT_DIR, else ~/.pi/agent]"),
    text("--session-dir", label="DIR", help="The folder that holds the session files"),
    text("--project", label="DIR", help="The project's working folder  [the current folder]"),
    text("--session", label="FILE|ID", help="The current session: a file, or the start of an id"),
    text("--leaf", label="ENTRY", help="The live leaf  [the session's last entry]"),
    text("--audience", label="local|PROVIDER", help="Who will see the answer"),
    flag("--reveal", help="Show secrets as they are (only the owner, on a terminal)"),
    flag("--json", help="Answer as JSON"),
    choice("--color", choices=("auto", "always", "never"), help="Colours  [auto]"),
    flag("--approve", help="Trust this project for this one command"),
    flag("--no-approve", help="Do not trust this project for this one command"),
    flag("-v", "--verbose", help="Say more"),
    flag("-q", "--quiet", help="Say less"),
)

ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom", "summary")
"""Those of `sessions.entries`, whose import the help would pay for; a test holds them equal."""

QUERY_LANGUAGE = """
The query language:

\b
  plain words            all are wanted: hits with all of them come first
  "exact phrase"         must stand there just so, case included
  `identifier`           must stand there, whatever the case
  NOT word               must not stand there
  this OR that           one of the two is enough
  prefix*                words that start so

Everything else is text, also -Wall, --flags, colons and lone quotes: chat-send, .env, C++ and 38.101 are looked up as
they stand. A word also finds identifiers that contain it: budget finds retry_budget and getRetryBudgetFor. Your shell
takes quotes away, so write '"exact phrase"'.
"""

MCP_CLIENTS = """
A client starts this itself, see docs/mcp.md. The project is that of --project, the session the newest of it, or that of
--session. It needs the MCP SDK: pip install 'pi-context[mcp]'.
"""

VERBS: tuple[Verb, ...] = (
    Verb(
        ("history", "search"),
        "history:search",
        "Find the original evidence in the history, also what compaction dropped",
        (Argument("QUERY", rest=True),),
        (
            text(
                "--scope", label="SCOPE", help=f"Where to look: {', '.join(SCOPES)}  [current-branch]", suggests=SCOPES
            ),
            number("--limit", help="The most hits, 1 to 12  [6]"),
            number("--skip", help="Leave out so many hits first  [0]"),
            number("--max-output-tokens", help="The budget of the answer, 256 to 6000  [3000]"),
            text("--role", label="ROLE", help=f"Only who spoke so: {', '.join(ROLES)}", repeats=True, suggests=ROLES),
            text("--tool", label="NAME", help="Only calls and results of this tool", repeats=True),
            text(
                "--before", label="TIME", help="Only before this date or instant (ISO 8601; a date is local midnight)"
            ),
            text("--after", label="TIME", help="Only after this date or instant"),
            flag("--include-summaries", help="Look into summaries of compactions and branches too"),
        ),
        QUERY_LANGUAGE,
    ),
    Verb(
        ("history", "read"),
        "history:read",
        "Read a hit back in full, verified byte by byte against the log",
        (
            Argument("REF"),
            Argument("START_LINE", optional=True, number=True),
            Argument("MAX_LINES", optional=True, number=True),
        ),
        (
            number("--start-column", help="Start within the line, counted from 1  [1]"),
            number("--max-output-tokens", help="The budget of the answer, 256 to 6000  [3000]"),
        ),
    ),
    Verb(
        ("history", "status"),
        "history:status",
        "Tell whether the index is current, and what is pending",
        (),
        (text("--scope", label="SCOPE", help="For which scope  [current-branch]", suggests=SCOPES),),
    ),
    Verb(
        ("history", "exclude"),
        "history:exclude",
        "Keep a session out of every search but its own",
        (Argument("SESSION", name_="wanted"),),
    ),
    Verb(("history", "include"), "history:include", "Take a session in again", (Argument("SESSION", name_="wanted"),)),
    Verb(("history", "exclusions"), "history:list_exclusions", "List the sessions that are kept out"),
    Verb(
        ("session", "list"),
        "session_list:list_sessions",
        "List the project's sessions, newest first",
        (),
        (flag("--all", help="Of all projects (only the owner, on a terminal)"),),
    ),
    Verb(
        ("session", "show"),
        "session_show:show",
        "Show an entry and its neighbours, verified",
        (Argument("ENTRY"),),
        (number("-C", "--neighbours", help="So many entries before and after  [0]"),),
        "\nENTRY is an id, the start of one, or SESSION:ENTRY.\n",
    ),
    Verb(("session", "tree"), "session_tree:tree", "Draw the session as a tree of its branches"),
    Verb(("session", "verify"), "session_verify:verify", "Check a session file line by line"),
    Verb(
        ("session", "context"),
        "session_context:context",
        "Give the messages that Pi itself would send at the leaf",
    ),
    Verb(
        ("rebase",),
        "rebase:rebase",
        "Continue a grown session in a new, verified one that quotes what matters",
        (),
        (
            flag("--dry-run", help="Show what would be done; nothing at all is written"),
            flag("--show-handoff", help="With --dry-run: show the text that the model would read"),
            flag("--fit", help="Let what is too large give way, oldest first, each piece listed"),
            flag("--yes", help="Do not ask"),
            text("--confirm-plan", label="ID", help="Do it only if the plan still has this id"),
            flag("--again", help="Also where an unchanged session was rebased already"),
            text("--recover", label="ID", help="Finish an operation that was cut short"),
            flag("--list", help="List all operations, finished ones too"),
            text("--abandon", label="ID", help="Give up an operation that has not taken effect"),
            text("--adopt", label="TARGET", help="Accept a rebased session that another installation signed"),
        ),
    ),
    Verb(("pin", "list"), "pins:list_pins", "List the pins of the session, also those that it inherited"),
    Verb(("memory", "list"), "pins:list_memories", "List the session's own memory, also what it inherited"),
    Verb(
        ("memory", "fact", "add"),
        "memory_facts:add",
        "Remember a fact: who or what, how, and whom or what",
        (Argument("SUBJECT"), Argument("PREDICATE"), Argument("OBJECT")),
        (
            flag("--value", help="OBJECT is a value, nothing that has a name"),
            flag("--single", help="There is one at a time: a confirmed one ends the one before"),
            text("--from", label="TIME", help="True since this date or instant"),
            text("--to", label="TIME", help="True until then"),
            flag("--confirm", help="Confirm it at once (only the owner)"),
        ),
    ),
    Verb(
        ("memory", "fact", "list"),
        "memory_facts:list_facts",
        "List the facts that hold",
        (),
        (
            flag("--all", help="Those too that ended or were retracted"),
            text("--as-of", label="TIME", help="Those that were true then"),
        ),
    ),
    Verb(("memory", "fact", "confirm"), "memory_facts:confirm", "Confirm a fact (only the owner)", (Argument("ID"),)),
    Verb(
        ("memory", "fact", "end"),
        "memory_facts:end",
        "Say that a fact stopped being true (only the owner)",
        (Argument("ID"),),
        (text("--at", label="TIME", help="When  [now]"),),
    ),
    Verb(
        ("memory", "remove"),
        "memory_removal:remove",
        "Take something away from recall, checkpoints, map and prompt, until it is restored",
        (Argument("KIND", choices=("entity", "name", "session", "fact")), Argument("TARGET")),
        (
            flag("--apply", help="Do it; without this it is only shown"),
            text("--confirm-plan", label="ID", help="Do it only if it is still what was shown"),
            flag("--in-parts", help="Hide a name within identifiers too"),
            flag("--yes", help="Do not ask"),
        ),
    ),
    Verb(("memory", "removed"), "memory_removal:removed", "List what is removed"),
    Verb(("memory", "restore"), "memory_removal:restore", "Bring back what was removed", (Argument("ID"),)),
    Verb(
        ("memory", "delete"),
        "memory_removal:delete",
        "Delete removed things for good; only a keyed digest of the name stays",
        (Argument("ID", rest=True, name_="ids"),),
        (text("--confirm", label="WORD", help="The word delete"),),
    ),
    Verb(
        ("memory", "map"),
        "memory_map:draw",
        "Draw what is remembered, and the names that summaries list",
        (),
        (
            text("--html", label="FILE", help="Write it as one page for a browser (only the owner)"),
            flag("--force", help="Write over a file that is there"),
            text("--as-of", label="TIME", help="As it was true then"),
        ),
    ),
    Verb(
        ("memory", "test-sessions"),
        "memory_map:review",
        "List sessions that do not look like real ones",
        (),
        (flag("--remove", help="Remove all that are listed"),),
    ),
    Verb(("memory", "recover"), "memory_removal:recover", "Finish changes of memory that were cut short"),
    Verb(("index", "update"), "index:update", "Bring the index up to date with all session files"),
    Verb(("index", "rebuild"), "index:rebuild", "Make the index anew beside the old one, then switch"),
    Verb(("index", "check"), "index:check", "Hold the index against every byte of the logs"),
    Verb(("index", "drop"), "index:drop", "Remove the index; it can be made again from the logs"),
    Verb(("config", "show"), "config:show", "Show every setting: value, origin, what is valid"),
    Verb(
        ("config", "set"),
        "config:set_value",
        "Save a setting",
        (Argument("PATH"), Argument("VALUE")),
        (flag("--global", help="In the owner's file, for all projects"),),
    ),
    Verb(
        ("config", "unset"),
        "config:unset",
        "Remove a saved setting, so that the default holds again",
        (Argument("PATH"),),
        (flag("--global", help="From the owner's file"),),
    ),
    Verb(
        ("audit",),
        "audit:audit",
        "List where the logs hold secrets, never a value",
        (),
        (flag("--all", help="In the sessions of all projects"),),
    ),
    Verb(("pi", "install"), "pi:install", "Put the extension into Pi, with this Python behind it"),
    Verb(("pi", "uninstall"), "pi:uninstall", "Take the extension out of Pi; sessions stay as they are"),
    Verb(("pi", "status"), "pi:status", "Tell whether Pi will load the extension, and whether its Python answers"),
    Verb(("serve",), "serve:serve", "Answer Pi's extension over standard input and output", hidden=True),
    Verb(
        ("mcp",),
        "mcp:mcp",
        "Offer recall to a client of MCP, over standard input and output",
        (),
        (
            text(
                "--provider",
                label="NAME",
                help="Who reads the answers; local only if privacy.localProviders names it  [an unknown remote one]",
            ),
        ),
        MCP_CLIENTS,
    ),
    Verb(("doctor",), "doctor:doctor", "Check the installation, the folders and the index"),
    Verb(
        ("completion",),
        "completion:completion",
        "Print the completion script for a shell",
        (Argument("SHELL", choices=("bash", "zsh", "fish")),),
    ),
)

GROUPS = {
    "history": "Search the history, read it back, see how it stands",
    "session": "List, show, check sessions",
    "pin": "What the session is to keep word for word",
    "memory": "Facts, and what was taken away: remove, restore, delete for good",
    "memory fact": "What is remembered as claims",
    "index": "Build, check, drop the index",
    "config": "Show and change settings",
    "pi": "Put the extension into Pi, take it out",
}

DEFAULTS = {"config": next(verb for verb in VERBS if verb.words == ("config", "show"))}
"""What the bare name of a group does; of any other group it prints the help."""

Words = dict[str, Any]
"""The values of a command's arguments and options by name; what was not given is None, False or empty."""


def options_of(verb: Verb) -> tuple[Option, ...]:
    """Give all options that a command knows."""
    return (*verb.options, *GLOBAL_OPTIONS)


def nothing_given(verb: Verb) -> Words:
    """Give the words of a command before anything is given."""
    given: Words = {argument.name: [] if argument.rest else None for argument in verb.arguments}
    for option in options_of(verb):
        given[option.name] = [] if option.repeats else False if option.takes == "flag" else None
    return given
