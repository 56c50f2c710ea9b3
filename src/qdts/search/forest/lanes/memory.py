"""A pool of memory that forests reuse.

The system hands out new memory page by page and clears each page when it is first written to, which takes time and
scales badly over threads. So a large block goes to a pool once nothing refers to it, and the next forest that it fits
takes it over as it is, old contents included. The contents never leave the process.
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
"""Smaller blocks, in bytes, are not kept: they cost little."""
WASTE = 2
"""A block is at most this many times as large as what it is reused for."""


class Pool:
    """Unused blocks, at most `most` bytes in all: the oldest make way for the newest.

    Any thread may take a block. Blocks return by themselves, possibly from a garbage collection at any point of the
    program, so returning one waits for no lock.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._blocks: list[Bytes] = []  # oldest first
        self._returned: deque[Bytes] = deque()
        self._lock = Lock()

    @property
    def held(self) -> int:
        """Bytes of all unused blocks."""
        return sum(block.nbytes for block in [*self._blocks, *self._returned])

    def take(self, size: int) -> Bytes:
        """An array of `size` bytes with arbitrary contents, which begins with a line of the cache.

        It returns to the pool when neither the array nor any view of it is left.
        """
        wanted = size + LINE
        if wanted < LEAST:
            return _from_line(np.empty(wanted, np.int8), size)
        block = self._find(wanted)
        if block is None:
            block = np.empty(wanted, np.int8)
        lent = np.frombuffer(block.data, np.int8)  # views keep this array alive, not the block
        weakref.finalize(lent, self._give_back, block).atexit = False
        return _from_line(lent, size)

    def free(self) -> None:
        """Return all unused blocks to the system."""
        with self._lock:
            self._blocks.clear()
            self._returned.clear()

    def _find(self, wanted: int) -> Bytes | None:
        """The smallest block that fits; of several, the newest."""
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
        """Sort in the blocks that have returned, unless another thread is doing so: it will see them too."""
        while self._returned and self._lock.acquire(blocking=False):
            try:
                while self._returned:
                    self._blocks.append(self._returned.popleft())
                while sum(block.nbytes for block in self._blocks) > self.most:
                    del self._blocks[0]
            finally:
                self._lock.release()


def _from_line(memory: Bytes, size: int) -> Bytes:
    """Its first `size` bytes from the beginning of a line on."""
    start = -memory.ctypes.data % LINE
    return memory[start : start + size]


pool = Pool(HELD_BYTES)
"""The pool of all forests."""
