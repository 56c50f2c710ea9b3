"""A survey of searches: its figures, its files, and its parts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from qdts import InputError, load_game, nash_conv, searched_policy
from qdts.search.evaluation.builtin import Table
from qdts.search.everywhere import SearchedStrategy, search_everywhere
from qdts.search.options.named import named
from qdts.solving.exact.values import reach
from qdts.solving.policy.table import Policy, policy_on
from qdts.solving.tree.recent import game_tree
from qdts.solving.uniform import uniform_policy
from qdts.survey.rows import Row, appending, read_rows
from qdts.survey.survey import (
    GAMES,
    NOISES,
    POLICIES,
    SEARCHES,
    Cell,
    cells_of,
    measure_cell,
    policy_of,
    run_survey,
    share_of,
)
from qdts.survey.truth import truth_of
from search.samples import action_values

CELL = Cell("kuhn_poker", "middling", "noisy", 1, "qdts[c=0.3]", (4, 30), (0, 1, 2))


def known(game: str, name: str) -> Policy:
    policy = policy_of(load_game(game), name)
    assert policy is not None
    return policy


@pytest.mark.parametrize("spec", GAMES)
def test_policies_are_as_good_as_they_should_be(spec: str) -> None:
    game = load_game(spec)
    weak, middling, equilibrium = (nash_conv(game, known(spec, name)) for name in POLICIES)
    assert weak == nash_conv(game, uniform_policy(game))
    assert 0.09 * weak < middling <= 0.1 * weak
    assert 0 <= equilibrium <= 1e-4
    assert policy_of(game, "none") is None


def test_rows_are_what_searches_give() -> None:
    rows = {row.key: row for row in measure_cell(CELL)}
    assert [*rows] == CELL.keys
    game, policy = load_game(CELL.game), known(CELL.game, CELL.policy)
    tree = game_tree(game)
    table = Table(policy, value_noise=0.05, child_noise=0.05, belief_noise=0.1, seed=1)
    for visits in CELL.visits:
        searched = [
            searched_policy(game, named("qdts", c=0.3), visits, evaluator=table, seed=seed).probability
            for seed in CELL.seeds
        ]
        for seed in CELL.seeds:
            one = rows[CELL.key(visits, (seed,))]
            assert one.nash_conv == pytest.approx(nash_conv(game, policy_on(tree, searched[seed])), abs=1e-12)
            assert one.q is not None
            assert one.q.spread is None
        average = rows[CELL.key(visits, CELL.seeds)]
        assert average.nash_conv == pytest.approx(nash_conv(game, policy_on(tree, np.mean(searched, 0))), abs=1e-12)
        assert average.before == pytest.approx(nash_conv(game, policy))
        assert average.milliseconds > 0


def test_a_search_that_takes_no_policy_has_one_cell() -> None:
    cells = cells_of(["kuhn_poker"], ["ismcts", "qdts"], [4, 100, 16], 2)
    assert [cell.policy for cell in cells if cell.search == "ismcts"] == ["none"]
    assert {(cell.policy, cell.noise) for cell in cells if cell.search == "qdts"} == {
        (policy, noise) for policy in POLICIES for noise in NOISES
    }
    assert {cell.visits for cell in cells} == {(4, 16, 100)}
    rows = measure_cell(cells[0])
    assert all(row.q is None and row.before is None for row in rows)


def naive_error(policy: Policy, found: list[SearchedStrategy]) -> Iterator[float]:
    """Bias, rms, spread and width, one action after another."""
    game, tree = policy.game, game_tree(policy.game)
    scale, sets = (game.max_return - game.min_return) / 2, tree.infosets
    truth = action_values(policy, np.arange(tree.num_infosets))
    errors, weights, widths, variances, often = [], [], [], [], []
    for i in range(tree.num_infosets):
        r = reach(tree, policy.probability, int(sets.owner[i]))[tree.histories.infoset == i].sum()
        for a, q in enumerate(truth[i]):
            k = sets.offset[i] + a
            seen = [f for f in found if f.count[k] > 0]
            mine = [((f.q_lo[k] + f.q_hi[k]) / 2 - q) / scale for f in seen]
            errors += mine
            weights += [r] * len(seen)
            widths += [(f.q_hi[k] - f.q_lo[k]) / scale for f in seen]
            if len(seen) > 1:
                variances.append(np.var(mine, ddof=1))
                often.append(r)
    yield np.average(errors, weights=weights)
    yield np.sqrt(np.average(np.square(errors), weights=weights))
    yield np.sqrt(np.average(variances, weights=often))
    yield np.average(widths, weights=weights)


@pytest.mark.parametrize("visits", [2, 40])
def test_errors_of_q(visits: int) -> None:
    policy = known("kuhn_poker", "middling")
    table = Table(policy, value_noise=0.2, belief_noise=0.1)
    found = [
        search_everywhere(policy.game, named("qdts"), [visits], evaluator=table, seed=seed)[0] for seed in range(3)
    ]
    error = truth_of(policy).error(found)
    assert (error.bias, error.rms, error.spread, error.width) == pytest.approx([*naive_error(policy, found)])
    exact = search_everywhere(policy.game, named("mmds"), [visits], evaluator=Table(policy))
    assert truth_of(policy).error(exact).rms < 1e-12


def figures(rows: list[Row]) -> list[object]:
    """All but time."""
    return [(row.key, row.nash_conv, row.before, row.q) for row in rows]


@pytest.mark.parametrize("cut", [1, 0, -1, -2, -300])
def test_a_survey_goes_on_where_it_was_cut(cut: int, tmp_path: Path) -> None:
    """After some bytes of the second cell, before it, and with less than the first."""
    file = tmp_path / "rows.jsonl"
    cells = cells_of(["kuhn_poker"], ["ismcts", "mmds"], [4, 16], 2)[:3]
    assert run_survey(file, cells) == 18
    whole = file.read_bytes()
    assert run_survey(file, cells) == 0
    assert file.read_bytes() == whole
    ends = [i for i, byte in enumerate(whole) if byte == ord("\n")]
    file.write_bytes(whole[: ends[5] + 1 + cut])
    left = len(read_rows([file]))
    assert left == (6 if cut >= 0 else 5 if cut > -100 else 4)
    assert run_survey(file, cells) == 18 - left
    assert figures([*read_rows([file]).values()]) == figures([row for cell in cells for row in measure_cell(cell)])
    assert len(file.read_bytes().splitlines()) == 18


def test_what_another_file_holds_is_not_measured_again(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    cells = cells_of(["kuhn_poker"], ["mmds"], [4], 1)
    run_survey(one, share_of(cells, 1, 2))
    assert run_survey(other, cells, others=[one]) == len(cells) // 2
    assert {*read_rows([one, other])} == {key for cell in cells for key in cell.keys}
    assert not {*read_rows([one])} & {*read_rows([other])}


def test_two_surveys_do_not_append_to_one_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    cells = cells_of(["kuhn_poker"], ["ismcts"], [4], 1)
    with appending(file), pytest.raises(InputError, match="another survey appends"):
        run_survey(file, cells)
    assert run_survey(file, cells) == 1


@pytest.mark.parametrize("line", ["{}", "nonsense", "[1]", '{"game": "kuhn_poker"}'])
def test_a_whole_line_that_is_no_row_is_an_error(line: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    run_survey(file, cells_of(["kuhn_poker"], ["ismcts"], [4], 1))
    file.write_text(file.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2 of .*rows\.jsonl"):
        read_rows([file])


def test_parts_have_every_cell_once() -> None:
    cells = cells_of()
    assert {cell.search for cell in cells} == {*SEARCHES}
    assert {cell.game for cell in cells} == {*GAMES}
    keys = [key for cell in cells for key in cell.keys]
    assert len(keys) == len({*keys})
    for parts in (1, 2, 7, 16):
        shares = [share_of(cells, part, parts) for part in range(1, parts + 1)]
        assert sorted(str(cell) for share in shares for cell in share) == sorted(map(str, cells))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
    for part in (0, 3):
        with pytest.raises(InputError, match="from 1 to 2"):
            share_of(cells, part, 2)


WITHOUT = """
import sys
for name in ("typer", "rich", "matplotlib"):
    sys.modules[name] = None
from pathlib import Path
from qdts.survey.survey import cells_of, run_survey, share_of
print(run_survey(Path(sys.argv[1]), share_of(cells_of(["kuhn_poker"], ["qdts"], [4], 1), 1, 4), report=print))
"""


def test_measuring_needs_neither_terminal_nor_pictures(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
    assert [json.loads(line)["visits"] for line in file.read_text(encoding="utf-8").splitlines()] == [4] * 7
