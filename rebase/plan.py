"""The complete plan of a rebase: what its target will hold, what it leaves out, who would see it, and whether it fits.

A plan is a value: a dry run shows it, a run carries it out, recovery makes it again and compares the ids. Making one
writes nothing, and its id holds nothing of the run.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

from foundation.canonical import UNITS_PER_TOKEN
from foundation.settings import Values
from memory.visibility import Visibility
from privacy.secrets.version import RULES_VERSION
from rebase.checkpoint import Contents, HandoffSeal, Kept, Left, Origin, Versions
from rebase.draft import Chosen, Draft, Way
from rebase.gates import Diagnostics, check_exchanges, check_memory, check_names, check_recordable
from rebase.handoff import MOST_TOKENS, Writer
from rebase.lineage import Generation, Locate, Proved, check_nearest, generations, own_link, sourceless
from rebase.pieces import Gate, clean
from rebase.preamble import counted
from rebase.remembered import kept, remembered
from rebase.sealing import Verify, digest, text_digest
from rebase.showing import Row, Seen, breakdown, seen_by, strictest
from rebase.source import Source, opened
from sessions.context import settings_at
from sessions.text import TEXT_VERSION

COMPOSER_VERSION = "1"
"""Raised with every change of what a target holds for the same source."""

VERSIONS = Versions.model_construct(composer=COMPOSER_VERSION, rules=f"{RULES_VERSION}/{TEXT_VERSION}")
"""The rules by which a target is composed, and those by which texts are read and redacted."""

OVER_BUDGET = "checkpoint-over-budget"

_DECISIVE = ("sessionRebase.checkpointTargetTokens", "privacy.defaultClassification")


class Plan(NamedTuple):
    """Everything about a rebase before it begins.

    `source` is the session as it was read; `model` provider and model id. `refusal` is a code or empty: with one,
    `contents` is None, `handoff` empty, `tokens` what it would take, and `ways` tells the ways out. `proved` is to be
    handed in the next time.
    """

    plan_id: str
    file: str
    source: Origin
    entries: int
    cwd: str
    name: str
    model: tuple[str, str] | None
    thinking_level: str
    fitted: bool
    tokens: int
    budget: int
    refusal: str
    contents: Contents | None
    handoff: str
    breakdown: tuple[Row, ...]
    left_out: Mapping[str, Left]
    gave_way: Mapping[str, int]
    interrupted: int
    redactions: int
    classification: str
    audiences: tuple[Seen, ...]
    generations: tuple[Generation, ...]
    proved: Proved
    diagnostics: Diagnostics
    ways: tuple[Way, ...]
    warnings: tuple[str, ...]
    kept: Kept = Kept()

    @property
    def depth(self) -> int:
        """Give how many sources the target would have, this one included."""
        return len(self.generations) + 1


def make_plan(
    file: str,
    *,
    leaf: str | None,
    values: Values,
    visibility: Visibility,
    fitted: bool,
    verify: Verify,
    locate: Locate,
    proved: Proved,
    size: int | None = None,
) -> Plan:
    """Plan the rebase of a session at a leaf, which may be given by the start of its id; by default its last entry.

    `fitted` lets what is too large give way; `size` plans for the first bytes of a file that has grown since. Raises
    ContextError with the code of the first gate that does not hold; a handoff over budget is told in the plan.
    """
    with opened(file, leaf=leaf, size=size) as source:
        check_names(source)
        origin = _origin(source)
        check_recordable((origin.sessionId, origin.file, origin.leafId))
        own = own_link(source, verify)
        lineage = generations(own.origins if own else (), locate, proved)
        given_up = own is not None and verify(sourceless(own), "", "") == "good"  # adopted without its source
        warnings = check_nearest(lineage, may_be_missing=given_up)
        judged, diagnostics = check_exchanges(source)
        state = remembered(source, own, visibility)
        check_memory(state, values)
        carried = kept(state, visibility)
        gate = Gate(values["privacy.defaultClassification"], visibility)
        budget = min(values["sessionRebase.checkpointTargetTokens"], MOST_TOKENS)
        name = session_name(source, gate)
        writer = Writer(source, own, judged.interrupted, gate, room=UNITS_PER_TOKEN * budget)
        draft = Draft(writer, name=name, budget=budget)
        chosen = draft.choose(fitted=fitted)
        plan_id = _plan_id(origin, chosen, values, visibility, carried, fitted=fitted)
        left_out = {kind: Left.model_construct(count=number, bytes=size)
                    for kind, (number, size) in sorted(draft.measured.left.items())}  # fmt: skip
        level, model = settings_at(source.reader, source.steps)
        named = _model(model, gate)
        rows = tuple(breakdown(draft.measured, chosen.choices))
        contents = None
        if chosen.handoff:
            contents = Contents(
                plan_id=plan_id,
                source=origin,
                ancestors=own.origins if own else (),
                versions=VERSIONS,
                name=name,
                blocks=tuple(chosen.blocks),
                elided=tuple(draft.writer.elided(draft.measured, chosen.choices)),
                left_out=left_out,
                interrupted=draft.measured.interrupted,
                kept=carried,
                handoff=HandoffSeal.model_construct(sha256=text_digest(chosen.handoff), tokens=chosen.tokens),
            )
        return Plan(
            plan_id=plan_id,
            file=file,
            source=origin,
            entries=len(source.skimmed.loaded.steps),
            cwd=source.header.cwd,
            name=name,
            model=named,
            thinking_level=level if _is_clean(level, gate) else "off",
            fitted=fitted,
            tokens=chosen.tokens,
            budget=budget,
            refusal="" if chosen.handoff else OVER_BUDGET,
            contents=contents,
            handoff=chosen.handoff,
            breakdown=rows,
            left_out=left_out,
            gave_way=counted(chosen.choices) if chosen.handoff else {},
            interrupted=draft.measured.interrupted,
            redactions=draft.measured.redactions,
            classification=strictest(rows),
            audiences=tuple(seen_by(rows, values, [named[0]] if named else [])),
            generations=lineage.generations,
            proved=lineage.proved,
            diagnostics=diagnostics,
            ways=() if chosen.handoff else draft.ways(chosen.tokens, fitted=fitted),
            warnings=(*warnings, *state.warnings),
            kept=carried,
        )


def session_name(source: Source, gate: Gate) -> str:
    """Give the name that the session has, clean and on one line; empty where it has none."""
    if source.skimmed.named is None:
        return ""
    name = source.reader.value(source.step(source.skimmed.named)).get("name")
    return clean(" ".join(name.split()), gate.visibility)[0] if isinstance(name, str) else ""


def _origin(source: Source) -> Origin:
    return Origin.model_construct(
        sessionId=source.header.id,
        file=os.path.basename(source.file),
        leafId=source.leaf_id,
        size=source.skimmed.fingerprint.size,
        sha256=source.skimmed.fingerprint.sha256,
    )


def _plan_id(
    origin: Origin, chosen: Chosen, values: Values, visibility: Visibility, carried: Kept, *, fitted: bool
) -> str:
    """Name a plan by everything that decides what it does, and by nothing of the run that carries it out."""
    return digest(
        {
            "size": origin.size,
            "sha256": origin.sha256,
            "leaf": origin.leafId,
            "settings": {key: values[key] for key in _DECISIVE},
            "pins": [],
            "memories": [],
            "visibility": visibility.digest,
            "kept": digest([*carried.pins, *carried.memories]),
            "versions": VERSIONS.model_dump(),
            "fit": fitted,
            "handoff": text_digest(chosen.handoff),
        }
    )


def _model(model: Any, gate: Gate) -> tuple[str, str] | None:
    """Give provider and model; None, so that Pi takes its usual one, where they are no names or hold a secret."""
    if not isinstance(model, dict):
        return None
    provider, name = model.get("provider"), model.get("modelId")
    return (provider, name) if _is_clean(provider, gate) and _is_clean(name, gate) else None


def _is_clean(text: Any, gate: Gate) -> TypeGuard[str]:
    return isinstance(text, str) and clean(text, gate.visibility)[0] == text
