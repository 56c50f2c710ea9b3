"""Memory of trees that are gone, kept for the next ones.

Memory that is new to a process comes page by page, each emptied by the system when it is first written to, which takes
time and does not run well on several threads. So a large block goes to a pool when nobody can see it any more, and the
next forest that it fits takes it over as it is, with anything in it. What lies there never leaves the process.
"""

from __future__ import annotations

import weakref
from collections import deque
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]

LINE = 64
"""Bytes of a line of the processor's cache."""
HELD_BYTES = 1 << 28
"""What the pool of all forests holds at most."""
LEAST = 1 << 20
"""Blocks of fewer bytes are not kept: they cost little."""
WASTE = 2
"""A block is taken over for no less than its size divided by this."""


class Pool:
    """Blocks that nobody uses, no more bytes of them than `most`: if need be those that came last push out the first.

    Any thread may take a block. They come back by themselves, perhaps from within a garbage collection in the midst of
    anything, so coming back waits for no lock.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._blocks: list[Bytes] = []  # the first to have come back first
        self._returned: deque[Bytes] = deque()
        self._lock = Lock()

    @property
    def held(self) -> int:
        """Bytes that are here and in nobody's use."""
        return sum(block.nbytes for block in [*self._blocks, *self._returned])

    def take(self, size: int) -> Bytes:
        """So many bytes from the beginning of a line on, with anything in them.

        They come back when neither this array nor any view of it is left.
        """
        wanted = size + LINE
        if wanted < LEAST:
            return _from_line(np.empty(wanted, np.int8), size)
        block = self._find(wanted)
        if block is None:
            block = np.empty(wanted, np.int8)
        lent = np.frombuffer(block.data, np.int8)  # every view holds on to this one, and none to the block
        weakref.finalize(lent, self._give_back, block).atexit = False
        return _from_line(lent, size)

    def free(self) -> None:
        """Give all that is held back to the system."""
        with self._lock:
            self._blocks.clear()
            self._returned.clear()

    def _find(self, wanted: int) -> Bytes | None:
        """The smallest block that fits, of equals the one that came last."""
        with self._lock:
            fitting = [i for i, block in enumerate(self._blocks) if wanted <= block.nbytes <= WASTE * wanted]
            best = min(fitting, key=lambda i: (self._blocks[i].nbytes, -i), default=None)
            block = None if best is None else self._blocks.pop(best)
        self._settle()
        return block

    def _give_back(self, block: Bytes) -> None:
        self._returned.append(block)
        self._settle()

    def _settle(self) -> None:
        """Put in order what has come back, unless another thread is at it, which will do so before it is done."""
        while self._returned and self._lock.acquire(blocking=False):
            try:
                while self._returned:
                    self._blocks.append(self._returned.popleft())
                while sum(block.nbytes for block in self._blocks) > self.most:
                    del self._blocks[0]
            finally:
                self._lock.release()


def _from_line(memory: Bytes, size: int) -> Bytes:
    """So many bytes of it, from the beginning of a line on."""
    start = -memory.ctypes.data % LINE
    return memory[start : start + size]


pool = Pool(HELD_BYTES)
"""That of all forests."""
