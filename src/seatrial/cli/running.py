"""Runs a command's coroutine: Ctrl-C and SIGTERM end it in order, and no traceback reaches the user."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from seatrial.errors import Defect, Interrupted, SeatrialError, StorageError

if TYPE_CHECKING:
    from seatrial.runs.folder import RunFolder

Result = TypeVar("Result")


def run(job: Coroutine[Any, Any, Result], folder: RunFolder | None = None) -> Result:
    """Run a coroutine to its end and return its result.

    Raises:
        SeatrialError: what the job raised; `Interrupted` and `Defect` for everything else that ended it.
    """

    async def guarded() -> Result:
        task = asyncio.current_task()
        assert task is not None
        with contextlib.suppress(NotImplementedError):  # no signal handlers on this event loop
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await job

    where = None if folder is None else str(folder.path)
    try:
        return asyncio.run(guarded())
    except (KeyboardInterrupt, asyncio.CancelledError):
        advice = f"What was found so far: {where}" if where else None
        raise Interrupted("interrupted", advice=advice) from None
    except SeatrialError:
        raise
    except OSError as error:
        name = error.filename or where
        raise StorageError(f"{error.strerror or error}", where=None if name is None else str(name)) from error
    except Exception as error:
        logging.getLogger(__name__).critical("defect", exc_info=error)
        advice = f"The traceback is in {where}/seatrial.log." if where else None
        raise Defect(f"a defect of seatrial's own: {type(error).__name__}: {error}", advice=advice) from error
