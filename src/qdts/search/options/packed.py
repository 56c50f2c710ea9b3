"""A search's options as kernels read them."""

from __future__ import annotations

from typing import NamedTuple, get_args

from numba import float64, int64, types

from qdts.games import defaults
from qdts.games.game import Game
from qdts.kernels import declare
from qdts.search.options.options import Options
from qdts.search.options.variants import Backup, Ball, Estimate, Form, LuckBase, LuckChild, Select, Unvisited


class PackedOptions(NamedTuple):
    """Numbers for kernels; constants that are compared with Q are already multiplied by S."""

    hidden: int
    """1 if the game hides something."""
    players: int
    pieces: int
    """1 if the game has actions in pieces."""
    scale: float
    """S"""
    c: float
    tie: float
    """How close two ends may be to count as touching."""
    eps_sample: float
    eps_opponent: float
    estimate: int
    pseudo_visits: float
    confidence: float
    step: float
    doubt: float
    select: int
    root_select: int
    backup: int
    sample_q: int
    opponent_q: int
    luck_base: int
    luck_child: int
    ball: int
    unvisited: int
    fpu: float
    widen: int
    share: int
    max_nodes: int
    prior_temperature: float
    noise: float
    neutral: float
    """The value of a game about which nothing is known."""


_INTS = (
    "hidden",
    "players",
    "pieces",
    "estimate",
    "select",
    "root_select",
    "backup",
    "sample_q",
    "opponent_q",
    "luck_base",
    "luck_child",
    "ball",
    "unvisited",
    "widen",
    "share",
    "max_nodes",
)
PackedOptionsType = types.NamedTuple([int64 if f in _INTS else float64 for f in PackedOptions._fields], PackedOptions)
declare(PackedOptions, PackedOptionsType)
TIE = 1e-9


def pack_options(game: Game, options: Options) -> PackedOptions:
    """What the kernels get to know of a search of this game."""
    scale = game.scale
    return PackedOptions(
        hidden=int(game.hidden),
        players=game.players,
        pieces=int(game.kernels.midway.dispatcher is not defaults.midway),
        scale=scale,
        c=options.c * scale,
        tie=TIE * scale,
        eps_sample=float(options.eps_sample),
        eps_opponent=float(options.eps_opponent),
        estimate=get_args(Estimate).index(options.estimate),
        pseudo_visits=float(options.pseudo_visits),
        confidence=float(options.confidence),
        step=float(options.step),
        doubt=options.doubt * scale,
        select=get_args(Select).index(options.select),
        root_select=get_args(Select).index(options.root_select),
        backup=get_args(Backup).index(options.backup),
        sample_q=get_args(Form).index(options.sample_q),
        opponent_q=get_args(Form).index(options.opponent_q),
        luck_base=get_args(LuckBase).index(options.luck_base),
        luck_child=get_args(LuckChild).index(options.luck_child),
        ball=get_args(Ball).index(options.ball),
        unvisited=get_args(Unvisited).index(options.unvisited),
        fpu=options.fpu * scale,
        widen=int(options.widen),
        share=int(options.share),
        max_nodes=options.max_nodes,
        prior_temperature=float(options.prior_temperature),
        noise=float(options.noise),
        neutral=game.neutral_value,
    )
