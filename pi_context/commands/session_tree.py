"""`pi-context session tree`: the session as a tree of its branches, turn by turn."""

from typing import TYPE_CHECKING, Any

from foundation.clock import iso
from pi_context.call import Call
from pi_context.entries_seen import Viewer
from pi_context.output import plain, width
from pi_context.showing import day, first_words
from recall.evidence import Logs
from sessions.tree import Node

if TYPE_CHECKING:
    from rich.tree import Tree

_SHOWN_TYPES = ("compaction", "branch_summary")
_HEAD = 44  # columns that an entry's id, time and role take


def tree(call: Call) -> int:
    """Draw the session."""
    with Logs() as logs:
        viewer = Viewer(call.around, logs)
        session = viewer.outline
        path = {node.id for node in session.path_to(session.leaf)}
        if call.out.json:
            call.out.answer(_told(viewer, path))
            return 0
        if not session.entries:
            call.out.say("The session has no entries yet.")
            return 0
        call.out.draw(_drawn(call, viewer, path))
    return 0


def _told(viewer: Viewer, path: set[str]) -> dict[str, Any]:
    session = viewer.outline
    entries = [
        {
            "entryId": node.id, "parentId": node.parent, "type": node.type, "role": node.role,
            "timestamp": iso(node.timestamp) if node.timestamp is not None else None, "onBranch": node.id in path,
            **({"label": viewer.labels[node.id]} if node.id in viewer.labels else {}),
        }
        for node in session.entries
    ]  # fmt: skip
    return {
        "sessionId": viewer.session_id,
        "file": viewer.around.told_path(session.path),
        "name": viewer.name,
        "leafId": session.leaf,
        "entries": entries,
    }


def _drawn(call: Call, viewer: Viewer, path: set[str]) -> "Tree":
    """Draw each straight stretch of entries as one level; only where branches part, the tree goes deeper."""
    from rich.text import Text
    from rich.tree import Tree

    session, children = viewer.outline, viewer.outline.children()
    name = f"{plain(viewer.name)}  " if viewer.name else ""
    root = Tree(Text(f"{name}session {plain(viewer.session_id)}", "bold"), guide_style="dim")
    several = len(session.roots) > 1
    waiting = [(root, session.by_id[identity], several) for identity in reversed(session.roots)]
    while waiting:
        above, node, parts = waiting.pop()
        level = above.add(Text("branch", "dim")) if parts else above
        passed = 0
        while True:
            below = children.get(node.id, [])
            if call.out.verbose or _matters(viewer, node, below):
                if passed:
                    level.add(_passed(passed))
                passed = 0
                level.add(_line(viewer, node, path))
            else:
                passed += 1
            if len(below) != 1:
                break
            node = below[0]
        if passed:
            level.add(_passed(passed))
        waiting += [(level, child, True) for child in reversed(below)]
    return root


def _matters(viewer: Viewer, node: Node, below: list[Node]) -> bool:
    """Tell whether a person wants to see an entry: turns, summaries, labels, and where branches part or end."""
    return node.role == "user" or node.type in _SHOWN_TYPES or node.id in viewer.labels or len(below) != 1


def _passed(count: int) -> Any:
    from rich.text import Text

    return Text(f"· {count} {'entry' if count == 1 else 'entries'}", "dim")


def _line(viewer: Viewer, node: Node, path: set[str]) -> Any:
    from rich.text import Text

    found = viewer.look(node).evidence
    words = first_words(found.text, max(width() - _HEAD, 20)) if found else "(classified)"
    line = Text.assemble(
        (plain(node.id), "cyan" if node.id in path else "dim"), "  ",
        (day(iso(node.timestamp)) if node.timestamp is not None else "", "dim"), "  ",
        (plain(node.role or node.type), "bold" if node.role == "user" else ""), "  ", words,
    )  # fmt: skip
    if node.id in viewer.labels:
        line.append(f"  [{plain(viewer.labels[node.id])}]", "yellow")
    if node.id == viewer.outline.leaf:
        line.append("  ← leaf", "green")
    return line
