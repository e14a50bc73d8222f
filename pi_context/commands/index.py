"""`pi-context index …`: build, check and drop the index."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import apsw

from foundation.errors import REFUSED, ContextError
from index import health, opening
from index.catching_up import Counters, Progress, Quarantined, catch_up, silent
from index.erasing import erase, forget_missing, is_pending
from index.failures import DAMAGE
from index.lagging import lags
from index.rebuilding import rebuild as build_anew
from pi_context.call import Call
from pi_context.output import is_a_terminal, plain
from sessions.locating import LogFile

_WORTH_A_BAR = 20_000_000  # bytes of log, about a second
_INDEX_SHARE = 0.4  # of the log's size, with room


def update(call: Call) -> int:
    """Bring the index up to date with all session files; one that proves to be damaged is made anew."""
    around, name = call.around, ""
    try:
        with closing(opening.open_or_create(around.own_folder, around.disk)) as db:
            name = os.path.basename(db.filename)
            return _update(call, db)
    except opening.Stale as stale:
        reason = stale.reason
    except (apsw.Error, UnicodeDecodeError) as error:
        if name and opening.is_replaced(around.own_folder, name):
            return update(call)
        if not isinstance(error, DAMAGE):
            raise
        reason = "index-damaged"
    return _rebuild(call, around.files, reason)


def _update(call: Call, db: apsw.Connection) -> int:
    if not health.has_present_rules(db):
        raise opening.Stale("detectors-changed")
    files = call.around.files
    gone = forget_missing(db, [file.path for file in files])
    work = lags(db, files)
    with _progress(call, sum(lag.missing for lag in work)) as progress:
        counters = catch_up(db, work, progress=progress, thorough=True, masks=call.around.masks)
    erase(db)
    return _report(call, counters._replace(files_seen=len(files)), removed=len(gone), pending=is_pending(db))


def rebuild(call: Call) -> int:
    """Make the index anew beside the old one."""
    return _rebuild(call, call.around.files, "")


def check(call: Call) -> int:
    """Hold the index against every byte of the logs."""
    around = call.around
    try:
        db = opening.open_writer(around.own_folder)
    except opening.Stale as stale:
        raise ContextError("index-unavailable", f"The index cannot be used ({stale.reason}).") from stale
    if db is None:
        raise ContextError("index-unavailable", "There is no index yet.", hint="Run `pi-context index update`.")
    try:
        missing = lags(db, around.files)
        problems = list(health.problems(db))
        bad = [line for line in health.quarantine(db) if around.may_be_named(line.file)]
        seen = len(around.files)
    finally:
        db.close()
    sound = not problems
    answer = _counted(Counters(files_seen=seen, quarantined=tuple(bad), behind=sum(lag.missing for lag in missing)))
    problems = [(path, code) for path, code in problems if not path or around.may_be_named(path)]
    answer |= {"sound": sound, "problems": [{"file": path, "code": code} for path, code in problems]}
    if call.out.json:
        call.out.answer(answer)
    else:
        call.out.say("The index is sound." if sound else "The index is not sound: run `pi-context index rebuild`.")
        for path, code in problems:
            call.out.say(f"  {plain(path) or 'index'}: {code}")
        _say_quarantined(call, bad)
        if missing:
            call.out.say(f"{len(missing)} files are not indexed as they are now.")
    return 0 if sound else REFUSED


def drop(call: Call) -> int:
    """Remove the index."""
    opening.drop(call.around.own_folder, call.around.disk)
    if call.out.json:
        call.out.answer({"dropped": True})
    else:
        call.out.say("The index is gone; session logs are untouched. The next search makes a new one.")
    return 0


def _rebuild(call: Call, files: Sequence[LogFile], reason: str) -> int:
    around = call.around
    if reason:
        call.out.note(f"The index is made anew ({reason}).")
    with _progress(call, sum(file.stat.st_size for file in files)) as progress:
        counters = build_anew(around.own_folder, around.disk, files, progress=progress, masks=around.masks)
    return _report(call, counters, removed=0, pending=False, rebuilt=True)


def _report(call: Call, counters: Counters, *, removed: int, pending: bool, rebuilt: bool = False) -> int:
    may_be_named = call.around.may_be_named
    counters = counters._replace(
        quarantined=tuple(line for line in counters.quarantined if may_be_named(line.file)),
        skipped=tuple((path, code) for path, code in counters.skipped if may_be_named(path)),
    )
    if call.out.json:
        call.out.answer(_counted(counters) | {"sessionsRemoved": removed, "pendingErase": pending, "rebuilt": rebuilt})
        return 0
    call.out.say(
        f"{counters.files_read} of {counters.files_seen} files read, {counters.bytes_read / 1e6:.1f} MB, "
        f"{counters.entries_added} entries added."
    )
    if removed:
        call.out.say(f"{removed} deleted sessions left the index.")
    if pending:
        call.out.note("Another process reads the index: words of deleted sessions leave the file with the next update.")
    for path, code in counters.skipped:
        call.out.note(f"{plain(path)}: skipped ({code})")
    _say_quarantined(call, counters.quarantined)
    return 0


def _say_quarantined(call: Call, bad: Sequence[Quarantined]) -> None:
    for line in bad:
        call.out.note(f"{plain(line.file)}:{line.line}: this line could not be read ({line.reason}); all others were")


def _counted(counters: Counters) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "filesSeen": counters.files_seen,
        "filesRead": counters.files_read,
        "bytesRead": counters.bytes_read,
        "entriesAdded": counters.entries_added,
        "quarantined": [line._asdict() for line in counters.quarantined],
    }
    if counters.behind:
        answer["bytesBehind"] = counters.behind
    if counters.skipped:
        answer["skipped"] = [{"file": path, "code": code} for path, code in counters.skipped]
    return answer


@contextmanager
def _progress(call: Call, total: int) -> Iterator[Progress]:
    """Show bytes, share and time left while a person waits; the estimate of size comes first."""
    if call.out.quiet or not is_a_terminal(sys.stderr) or total < _WORTH_A_BAR:
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    megabytes = total / 1e6
    call.out.note(
        f"{megabytes:,.0f} MB of session logs to read; the index takes about {megabytes * _INDEX_SHARE:,.0f} MB."
    )
    columns = (TextColumn("Indexing"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=total)
        yield lambda done, _total: bar.update(task, completed=done)
