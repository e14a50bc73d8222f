"""The map as one page for a browser: a drawing, lists, what is removed, and for each node the command that removes it.

Nothing is loaded from anywhere; every text is escaped. The same map gives the same page.
"""

import math
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from shlex import quote

from memory.mapping import Edge, Map, Node
from memory.model import Removal

_WIDTH, _HEIGHT = 1200, 820
_RINGS = {"owner": 0.0, "entity": 0.42, "name": 0.72, "session": 0.97}
_RADII = {"owner": 13, "entity": 9, "name": 6, "session": 4}
_MARGIN_X, _MARGIN_Y, _LONGEST = 210, 40, 26
_MOST_NAMED = 24  # sessions; more of them are dots whose name shows when they are pointed at

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2433;--soft:#5d6779;--line:#c3cad8;--paper:#fbfbfd;--card:#fff;
--owner:#7a3ff2;--entity:#1769d2;--name:#0f8f63;--session:#8b8f99}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9f0;--soft:#9aa3b5;--line:#3a4252;--paper:#12151c;--card:#1a1f2a;
--owner:#b79bff;--entity:#6fb1ff;--name:#5fd3a6;--session:#858b99}}
*{box-sizing:border-box}body{margin:0;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
header,main{max-width:1240px;margin:0 auto;padding:1rem 1.25rem}h1{font-size:1.25rem;margin:.2rem 0}
h2{font-size:1rem;margin:1.6rem 0 .5rem}p{color:var(--soft);margin:.2rem 0 .8rem}
input{font:inherit;padding:.45rem .7rem;width:min(26rem,100%);border:1px solid var(--line);border-radius:8px;
background:var(--card);color:inherit}
svg{width:100%;height:auto;background:var(--card);border:1px solid var(--line);border-radius:12px}
svg text{font-size:12px;fill:var(--ink);paint-order:stroke;stroke:var(--card);stroke-width:3px}
svg line{stroke:var(--line)}svg line.confirmed{stroke:var(--entity);stroke-width:1.6}
svg line.proposed{stroke-dasharray:4 3}.owner{fill:var(--owner)}.entity{fill:var(--entity)}.name{fill:var(--name)}
.session{fill:var(--session)}ul{list-style:none;margin:0;padding:0}
li{display:flex;gap:.8rem;align-items:baseline;flex-wrap:wrap;padding:.35rem .1rem;border-bottom:1px solid var(--line)}
li b{font-weight:600}small{color:var(--soft)}code{font:13px ui-monospace,monospace;user-select:all;
overflow-wrap:anywhere}
.hidden{display:none}.dim{opacity:.15}
"""
_SCRIPT = """
const box=document.querySelector('input');box.addEventListener('input',()=>{const wanted=box.value.trim().toLowerCase();
for(const row of document.querySelectorAll('[data-text]')){const there=row.dataset.text.includes(wanted);
row.classList.toggle(row.tagName==='LI'?'hidden':'dim',!there)}});
"""


def page(drawn: Map, removed: Sequence[Removal], *, project: str) -> str:
    """Give the page."""
    policy = f"default-src 'none'; script-src '{_hash(_SCRIPT)}'; style-src '{_hash(_STYLE)}'"
    facts = [_fact(drawn, edge) for edge in drawn.edges if edge.kind == "fact"]
    kinds = {"entity": "What facts are about", "name": "Names in summaries", "session": "Sessions"}
    lists = [_list(title, [_row(node) for node in drawn.nodes if node.kind == kind]) for kind, title in kinds.items()]
    counted = f"{len(drawn.nodes)} nodes, {len(drawn.edges)} edges, {len(removed)} removed"
    return "\n".join([
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>Memory map</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<header><h1>Memory map</h1><p>{escape(project)}: {counted}</p>",
        '<input type="search" placeholder="Find on this page" aria-label="Find on this page"></header><main>',
        _drawing(drawn), _list("Facts", facts), *lists, _list("Removed", [_removed(row) for row in removed]),
        f"</main><script>{_SCRIPT}</script></body></html>\n",
    ])  # fmt: skip


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _drawing(drawn: Map) -> str:
    places = _places(drawn.nodes)
    lines = [
        _line(edge, *places[edge.source], *places[edge.target])
        for edge in drawn.edges
        if edge.source != edge.target and edge.source in places and edge.target in places
    ]
    crowded = sum(node.kind == "session" for node in drawn.nodes) > _MOST_NAMED
    dots = [_dot(node, *places[node.id], named=not (crowded and node.kind == "session")) for node in drawn.nodes]
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="The map as a drawing"'
    return f"<svg {size}>{''.join(lines)}{''.join(dots)}</svg>"


def _line(edge: Edge, x1: float, y1: float, x2: float, y2: float) -> str:
    kind = escape(edge.status or edge.kind)
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _dot(node: Node, x: float, y: float, *, named: bool) -> str:
    label = escape(node.label if len(node.label) <= _LONGEST else node.label[: _LONGEST - 1] + "…")
    anchor, shift = ("end", -1) if x < _WIDTH / 2 - 1 else ("start", 1)
    radius = _RADII[node.kind]
    text = f'<text x="{x + shift * (radius + 4):.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{label}</text>'
    return (
        f'<g tabindex="0" data-text="{escape(node.label.lower())}"><title>{escape(node.label)}</title>'
        f'<circle class="{node.kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
        f"{text if named else ''}</g>"
    )


def _places(nodes: Sequence[Node]) -> dict[str, tuple[float, float]]:
    """Put each kind on a ring of its own, evenly; the owner in the middle."""
    places: dict[str, tuple[float, float]] = {}
    for turn, (kind, ring) in enumerate(_RINGS.items()):
        those = [node for node in nodes if node.kind == kind]
        for number, node in enumerate(those):
            angle = 2 * math.pi * (number + 0.5 * (turn % 2)) / len(those) - math.pi / 2
            x = _WIDTH / 2 + ring * (_WIDTH / 2 - _MARGIN_X) * math.cos(angle)
            y = _HEIGHT / 2 + ring * (_HEIGHT / 2 - _MARGIN_Y) * math.sin(angle)
            places[node.id] = (x, y)
    return places


def _list(title: str, rows: Sequence[str]) -> str:
    return f"<h2>{title} ({len(rows)})</h2><ul>{''.join(rows)}</ul>" if rows else ""


def _item(label: str, note: str, command: str) -> str:
    told = f"<small>{escape(note)}</small>" if note else ""
    return f'<li data-text="{escape(label.lower())}"><b>{escape(label)}</b>{told}<code>{escape(command)}</code></li>'


def _row(node: Node) -> str:
    assert node.ref is not None
    command = f"pi-context memory remove {node.ref[0]} {quote(node.ref[1])} --apply"
    return _item(node.label, "was removed before" if node.previously_removed else "", command)


def _fact(drawn: Map, edge: Edge) -> str:
    labels = {node.id: node.label for node in drawn.nodes}
    target = labels.get(edge.target, "") if edge.target != edge.source else ""
    said = " ".join(filter(None, (labels.get(edge.source, ""), edge.label, target)))
    return _item(said, edge.status, f"pi-context memory remove fact {edge.id} --apply")


def _removed(row: Removal) -> str:
    return _item(row.label or row.target, row.kind, f"pi-context memory restore {row.id}")
