"""The tutorial says what is so: its code is the example's, its commands print what it shows, its value is right."""

from __future__ import annotations

import doctest
import itertools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

import qdts
from qdts.cli import main
from qdts.games import registry
from qdts.testing import ConformanceError, check_game

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = (DOCS / "adding-a-game.md").read_text(encoding="utf-8")
EXAMPLE = DOCS / "examples" / "blind_mans_bluff.py"
SPLIT = DOCS / "examples" / "hide_and_guess.py"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)


class Session(NamedTuple):
    """A command with what it prints, and the change to the file, if any, with which it does."""

    change: str
    command: str
    output: str


def sessions() -> Iterator[Session]:
    change = ""
    for kind, text in BLOCKS:
        if kind == "diff":
            change = text
        elif kind == "console":
            command, _, output = text.partition("\n")
            yield Session(change, command.removeprefix("$ qdts "), output)
            change = ""


SESSIONS = list(sessions())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, with a cache of its own and no games but the package's."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_files", {})
    monkeypatch.setenv("QDTS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    home = tmp_path / "my_games"
    home.mkdir()
    monkeypatch.chdir(home)
    shutil.copy(EXAMPLE, home)
    return home


def test_the_code_is_all_of_the_example() -> None:
    quoted = "".join(text for kind, text in BLOCKS if kind == "python")
    lines, expected = (
        [line for line in text.splitlines() if line] for text in (quoted, EXAMPLE.read_text(encoding="utf-8"))
    )
    assert lines == expected


def test_split_actions_are_quoted_from_their_example(folder: Path) -> None:
    source = SPLIT.read_text(encoding="utf-8")
    quoted = [text for kind, text in BLOCKS if kind == "py"]
    assert len(quoted) == 4
    assert all(text in source for text in quoted)
    report = check_game(qdts.load_game(str(SPLIT)), interpreted=True)
    assert (report.mode, report.skipped) == ("enumerated", {})
    assert qdts.solve(qdts.load_game(str(SPLIT)), "lp").value == pytest.approx(-1 / 3)
    leaky = "    if player == 0 and world[TURN] == 3:\n        world[PARTS + 2] = UNKNOWN\n"
    assert source.count(leaky) == 1
    (folder / SPLIT.name).write_text(source.replace(leaky, ""), encoding="utf-8")
    registry._files.clear()
    with pytest.raises(ConformanceError) as caught:
        check_game(qdts.load_game(f"./{SPLIT.name}"))
    (said,) = (text for kind, text in BLOCKS if kind == "text")
    assert said.strip() == f"hide_and_guess breaks the law of midway: {caught.value.what}"


def run(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command of the tutorial, and compare what it prints; … stands for anything."""
    arguments = session.command.split()
    main(arguments)
    printed = capsys.readouterr()
    lines = [line.rstrip() for line in (printed.out + printed.err).splitlines()]
    shown = [line.rstrip() for line in session.output.splitlines()]
    pattern = "\n".join(".*" if line == "…" else re.escape(line).replace("…", ".*") for line in shown)
    assert re.fullmatch(pattern, "\n".join(lines), re.DOTALL), "\n".join(lines)


@pytest.mark.parametrize("session", [s for s in SESSIONS if s.change], ids=lambda s: s.change.splitlines()[0].strip())
def test_mistakes_are_told_as_shown(session: Session, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (
        "".join(line[1:] + "\n" for line in session.change.splitlines() if line.startswith(sign)) for sign in "-+"
    )
    source = EXAMPLE.read_text(encoding="utf-8")
    assert source.count(old) == 1
    (folder / EXAMPLE.name).write_text(source.replace(old, new), encoding="utf-8")
    run(session, capsys)


def test_another_game_may_keep_the_laws_too(folder: Path) -> None:
    """Hiding the other's card in place of one's own, as the tutorial warns."""
    source = EXAMPLE.read_text(encoding="utf-8")
    assert source.count("world[CARDS + player]") == 2
    changed = source.replace("world[CARDS + player]", "world[CARDS + 1 - player]")
    (folder / EXAMPLE.name).write_text(changed, encoding="utf-8")
    game = qdts.load_game(f"./{EXAMPLE.name}")
    assert check_game(game).mode == "enumerated"
    dealt = game.layout.read("turn=2 cards=AQ glances=-- bets=---")
    assert game.layout.write(game.view(dealt, 0)) == "turn=2 cards=A? glances=-- bets=---"


def test_commands_print_what_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = [session for session in SESSIONS if not session.change]
    assert [session.command.split()[0] for session in plain] == ["check", "walk", "solve", "policy"]
    for session in plain:
        run(session, capsys)
    assert (folder / "bluff.npz").exists()
    dialogue = next(text for kind, text in BLOCKS if kind == "pycon")
    tried = doctest.DocTestRunner(verbose=False)
    tried.run(doctest.DocTestParser().get_doctest(dialogue, {}, "tutorial", None, 0))
    assert (tried.failures, tried.tries) == (0, dialogue.count(">>>"))
    assert qdts.load_policy("bluff.npz", qdts.load_game(f"./{EXAMPLE.name}")).info["algorithm"] == "pcfr+"


# The game once more, from its rules in words: for each card that a player may see, their plans are listed one by one.

PRICE = 0.5
Plan = tuple[bool, dict[int | None, tuple[bool, bool]]]
"""Whether to glance, and for what they then know of their own card the answers to two questions.

To player 0: do they open with a bet, and do they call? To player 1: do they bet after a pass, and do they call?
"""


def plans(own_cards: list[int]) -> list[Plan]:
    answers = [(first, second) for first in (False, True) for second in (False, True)]
    blind: list[Plan] = [(False, {None: answer}) for answer in answers]
    return blind + [
        (True, dict(zip(own_cards, chosen, strict=True)))
        for chosen in itertools.product(answers, repeat=len(own_cards))
    ]


def payoff(cards: tuple[int, int], first: Plan, second: Plan) -> float:
    """What player 0 gets."""
    opens, calls = first[1][cards[0] if first[0] else None]
    bets, answers = second[1][cards[1] if second[0] else None]
    if opens:
        stake, folded = (2, None) if answers else (1, 1)
    elif bets:
        stake, folded = (2, None) if calls else (1, 0)
    else:
        stake, folded = 1, None
    wins = folded == 1 if folded is not None else cards[0] > cards[1]
    return (stake if wins else -stake) + PRICE * (int(second[0]) - int(first[0]))


def value(ranks: int) -> float:
    """Player 0 mixes plans for each card that they see; player 1 has a best response for each that they see.

    max Σ_c v(c)  with  v(c) ≤ Σ_d P(c, d) x(d)ᵀ A(c, d) e_j  for all plans j of player 1, who sees c while 0 sees d
    """
    deals = list(itertools.permutations(range(ranks), 2))
    own = [[card for card in range(ranks) if card != seen] for seen in range(ranks)]
    count = len(plans(own[0]))
    rows = []
    for seen_by_1 in range(ranks):
        for second in plans(own[seen_by_1]):
            row = np.zeros(ranks * count + ranks)
            row[ranks * count + seen_by_1] = 1.0
            for cards in deals:
                if cards[0] == seen_by_1:
                    at = cards[1] * count
                    row[at : at + count] = [-payoff(cards, p, second) / len(deals) for p in plans(own[cards[1]])]
            rows.append(row)
    sums = np.zeros((ranks, ranks * count + ranks))
    for seen in range(ranks):
        sums[seen, seen * count : (seen + 1) * count] = 1.0
    solved = linprog(
        np.concatenate([np.zeros(ranks * count), -np.ones(ranks)]),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=sums,
        b_eq=np.ones(ranks),
        bounds=[(0, None)] * (ranks * count) + [(None, None)] * ranks,
    )
    assert solved.success
    return -float(solved.fun)


@pytest.mark.parametrize("ranks", [3, 4])
def test_the_value_is_that_of_all_plans(ranks: int, folder: Path) -> None:
    game = qdts.load_game(f"{folder / EXAMPLE.name}(ranks={ranks})")
    assert check_game(game).mode == "enumerated"
    solution = qdts.solve(game, "lp")
    assert solution.nash_conv == pytest.approx(0, abs=1e-9)
    assert solution.value == pytest.approx(value(ranks), abs=1e-9)
