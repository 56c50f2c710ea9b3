"""Workers: processes that each make one cell of a table, so many side by side, each on one thread.

A worker ends when the process that started it does, however that ended. What it was making is resumed by the next one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from qdts.cli.benchmarks.ablations import Cell, make_cell

SERVE = "from qdts.cli.benchmarks.workers import serve; serve()"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""What keeps libraries from starting threads of their own."""
WATCH_SECONDS = 1.0
"""How often a worker looks whether it is still wanted."""
LAST_WORDS = 2000
"""Characters of a failed worker's output that are shown."""


class Done(NamedTuple):
    """A cell that a worker has ended with."""

    cell: Cell
    fault: str | None
    """What went wrong; None where the cell is made, or another process is making it."""


def make_cells(
    out: Path, cells: Sequence[Cell], workers: int, *, keep: bool = False, begin: Callable[[Cell], None] | None = None
) -> Iterator[Done]:
    """Make cells by so many workers, each as soon as one is free; gives each one that has ended.

    Args:
        out: The folder of the table.
        cells: What is to be made, in this order.
        workers: How many processes there are at a time.
        keep: Whether the runs of the cells are kept.
        begin: Called when a worker begins a cell.
    """
    running: set[subprocess.Popen[str]] = set()

    def make(cell: Cell) -> Done:
        if begin is not None:
            begin(cell)
        text = json.dumps({"out": str(out), "keep": keep, "cell": asdict(cell)})
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, text], env=os.environ | ONE_THREAD, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        running.add(process)
        _, said = process.communicate()
        running.discard(process)
        return Done(cell, None if process.returncode == 0 else said[-LAST_WORDS:].strip() or f"{process.returncode}")

    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(make, cell) for cell in cells]
        try:
            for job in as_completed(jobs):
                yield job.result()
        finally:
            for job in jobs:
                job.cancel()
            for process in tuple(running):
                process.terminate()


def serve() -> None:
    """Make the cell that the arguments of this process describe."""
    given = json.loads(sys.argv[1])
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    cell = Cell(**given["cell"] | {"settings": tuple(given["cell"]["settings"])})
    make_cell(Path(given["out"]), cell, keep=given["keep"])


def _end_with(parent: int) -> None:
    """End this process at once when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)
