"""Make the index anew beside the present one, then switch; until then everybody goes on with the old one."""

from collections.abc import Sequence

from foundation.durable import Files
from index import opening
from index.catching_up import Counters, Progress, fill, silent
from index.lagging import Lag
from index.masks import Masks, no_masks
from index.sql import transaction
from sessions.locating import LogFile


def rebuild(
    folder: str, disk: Files, files: Sequence[LogFile], *, progress: Progress = silent, masks: Masks = no_masks
) -> Counters:
    """Build a new generation from the logs, in the order given, and switch to it.

    Raises ContextError with `index-busy` where another process rebuilds. Interrupted, it leaves the old index as it is.
    """
    with opening.exclusive(folder, disk):
        try:
            number, db = opening.begin_generation(folder, disk)
            try:
                with transaction(db):
                    work = [Lag(file, file.stat.st_size) for file in files]
                    counters = fill(db, work, progress=progress, masks=masks)
                opening.finish_generation(folder, number, db, disk)
            finally:
                db.close()
        except BaseException:
            opening.abandon_generation(folder, disk)
            raise
    return counters
