"""NashConv of games of hidden stones, which are too large to list but can be measured cell by cell.

Uniform play is measured once for each game: the figure stays in the folder of compiled kernels. It also tells how long
a network will take: the same time again, and that of evaluating every view.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from qdts.code_cache import cache_root
from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games import batch
from qdts.games.game import Game
from qdts.kernels import Ints, Reals
from qdts.learning.nodes.evaluation import policy_at
from qdts.nets.evaluator import Network
from qdts.solving.measure import measure_policy
from qdts.solving.policy.function import PolicyFunction, uniform_probabilities
from qdts.solving.sweep.progress import SweepProgress

SAMPLE = 4096
"""Views from which the time of an evaluation is estimated."""

Report = Callable[[str, float], None]
"""Called with what is being done, and the share of it that is done."""


class UniformPlay(NamedTuple):
    """What is known of uniform play in a game."""

    nash_conv: float
    views: int
    """All views of all players."""
    seconds: float
    """How long it took to measure."""


def known_uniform(game: Game) -> UniformPlay | None:
    """What was measured before, on this machine; None if it was not."""
    with suppress(OSError, ValueError, TypeError):
        return UniformPlay(**json.loads(_file(game).read_text(encoding="utf-8")))
    return None


def uniform_by_cells(game: Game, report: Report) -> UniformPlay:
    """Uniform play, measured at most once on a machine."""
    known = known_uniform(game)
    if known is not None:
        return known
    began = time.perf_counter()
    measured = measure_policy(game, uniform_probabilities, report=_followed(report, "measuring uniform play"))
    assert measured.views is not None
    known = UniformPlay(measured.nash_conv, measured.views, time.perf_counter() - began)
    with suppress(OSError, InputError):  # without a folder to keep it in, it is measured again
        file = _file(game)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, lambda out: out.write(json.dumps(known._asdict()).encode()))
    return known


def network_by_cells(network: Network, seconds: float, report: Report) -> float:
    """NashConv of a network's P; it is said that this takes about so many seconds."""
    what = f"measuring NashConv cell by cell, about {seconds:.0f} s"
    return measure_policy(network.game, _policy(network), report=_followed(report, what)).nash_conv


def expected_seconds(network: Network, uniform: UniformPlay) -> float:
    """How long `network_by_cells` will take."""
    game = network.game
    views = np.repeat(game.view(game.initial(), 0)[None], SAMPLE, 0)
    policy = _policy(network)
    policy(views[:1], np.ones(1, np.int64))
    began = time.perf_counter()
    policy(views, np.ones(SAMPLE, np.int64))
    return uniform.seconds + uniform.views * (time.perf_counter() - began) / SAMPLE


def _policy(network: Network) -> PolicyFunction:
    def rows(views: Ints, counts: Ints) -> Reals:
        return policy_at(network.game, network, views, batch.movers(network.game, views))

    return rows


def _followed(report: Report, what: str) -> Callable[[SweepProgress], None]:
    """What a measurement reports, in words."""

    def follow(progress: SweepProgress) -> None:
        if progress.share is None:
            report(f"{what}: {progress.views:,} views of player {progress.player}", 0.0)
        else:
            report(what, (progress.player + progress.share) / 2)

    return follow


def _file(game: Game) -> Path:
    key = hashlib.sha256(f"{game.spec} {game.version}".encode()).hexdigest()[:24]
    return cache_root() / "uniform" / f"{key}.json"
