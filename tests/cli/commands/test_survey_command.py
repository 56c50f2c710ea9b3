"""The command survey: what it measures, the page it fills, and how it fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.running import Output, check_failure, run_json, run_text
from qdts import load_game, save_policy
from qdts.cli import main
from qdts.survey import measure
from qdts.survey import page as survey_page
from qdts.survey.measure import policy_of
from qdts.survey.plan import SEARCHES
from qdts.survey.plot import ALWAYS
from qdts.survey.rows import Key, read_rows

BLOCK = re.compile(r"<!-- survey: .*?<!-- end -->", re.DOTALL)
PAGE = Path(__file__).parents[3] / "docs" / "searches.md"
QUICK = ["--game", "kuhn_poker", "--visits", "4,16", "--seeds", "2"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey of all searches, small."""
    file = tmp_path_factory.mktemp("survey") / "rows.jsonl"
    assert main(["survey", "--rows", str(file), *QUICK, "--json"]) == 0
    return file


def test_rows_are_what_evaluate_says(capsys: Output, rows: Path, tmp_path: Path) -> None:
    game = load_game("kuhn_poker")
    noise = ["--value-noise", "0.05", "--child-noise", "0.05", "--belief-noise", "0.1"]
    found, compared = read_rows([rows]), 0
    for name in ("middling", "equilibrium"):
        policy = policy_of(game, name)
        assert policy is not None
        save_policy(policy, tmp_path / f"{name}.npz")
        for search in ("a-ismcts", "qdts[decision=lcb,estimate=prior]"):
            for kind, options in (("exact", []), ("noisy", noise)):
                said = run_json(
                    capsys, "evaluate", "kuhn_poker", "--search", search, "--visits", "4,16", "--seed", "1",
                    "--policy", str(tmp_path / f"{name}.npz"), *options,
                )  # fmt: skip
                for result in said["results"]:
                    row = found[Key("kuhn_poker", name, kind, 0, search, result["visits"], (1,))]
                    assert row.nash_conv == pytest.approx(result["nash_conv"], abs=1e-12)
                    assert row.before == pytest.approx(said["policy_nash_conv"], abs=1e-12)
                    compared += 1
    assert compared == 16


def test_a_page_is_filled(capsys: Output, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "searches.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    data = run_json(capsys, "survey", "--rows", str(rows), "--page", str(page))
    assert data["pictures"] == [str(tmp_path / "searches" / "kuhn_poker.svg")]
    text = page.read_text(encoding="utf-8")
    tables = re.search(r"<!-- survey: nashconv kuhn_poker -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert tables is not None
    for search in SEARCHES:
        lines = [line for line in tables[1].splitlines() if line.startswith(f"| `{search}` |")]
        assert len(lines) == (1 if search.startswith(("ismcts", "mt-ismcts")) else 6)
        assert all(re.fullmatch(r"\| `\S+` \| [\d.]+ \| [\d.]+ \|", line) for line in lines)
    best = {row.key: row for row in survey_page.best_rows(read_rows([rows]).values())}
    first = best[Key("kuhn_poker", "weak", "exact", 0, "qdts", 4, (0, 1))]
    assert f"| `qdts` | {first.nash_conv:.3f} |" in tables[1]
    assert "*not measured*" in text.split("## Leduc poker")[1]
    by_hand = [BLOCK.sub("", t) for t in (PAGE.read_text(encoding="utf-8"), text)]
    assert by_hand[0] == by_hand[1]

    picture = Path(data["pictures"][0]).read_bytes()
    for search in SEARCHES:
        assert (search.encode() in picture) == ("[" not in search or search == ALWAYS)
    run_json(capsys, "survey", "--rows", str(rows), "--page", str(page))
    assert page.read_text(encoding="utf-8") == text
    assert Path(data["pictures"][0]).read_bytes() == picture


def test_noisy_figures_are_means_over_draws(rows: Path) -> None:
    of = survey_page.chosen(
        survey_page.best_rows(read_rows([rows]).values()), policy="weak", noise="noisy", search="qdts", visits=16
    )
    assert [row.key.draw for row in of] == [*range(8)]
    mean = survey_page.mean_over_draws(of, lambda row: row.nash_conv)
    assert mean == pytest.approx(sum(row.nash_conv for row in of) / 8)
    assert len({row.nash_conv for row in of}) > 1
    assert survey_page.mean_over_draws([], lambda row: row.nash_conv) is None


def test_parts_together_are_the_whole(capsys: Output, rows: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"rows-{k}.jsonl" for k in (1, 2, 3)]
    base = ["--game", "kuhn_poker", "--visits", "4", "--seeds", "1", "--search", "mmds", "--search", "ismcts"]
    for k, file in enumerate(files, 1):
        data = run_json(capsys, "survey", "--rows", str(file), *base, "--part", f"{k}/3")
        assert data["measured"] == data["cells"] == len(read_rows([file]))
    whole = run_json(capsys, "survey", *(word for file in files for word in ("--rows", str(file))), *base)
    assert (whole["cells"], whole["measured"], whole["known"]) == (28, 0, 28)


def test_progress_is_reported(capsys: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(measure, "PAUSE", 0.0)
    arguments = ["survey", "--rows", str(tmp_path / "rows.jsonl"), *QUICK, "--search", "mmds"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert re.search(
        r"cell 27 of 27, kuhn_poker: mmds from equilibrium, noisy 7: 100%; 100.0% .* min left", printed.err
    )
    assert "measured  162" in printed.out
    assert "162" in run_text(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--part", "3"], ["--part 3", "3/16"]),
        (["--part", "3/2"], ["part 3 of 2", "from 1 to 2"]),
        (["--search", "uct"], ["uct", "perfect-information", "ismcts"]),
        (["--search", "qdst"], ["qdst", "did you mean qdts"]),
        (["--visits", "0"], ["visits=0"]),
        (["--visits", "4,"], ["visits=nothing"]),
        (["--game", "khun_poker"], ["khun_poker", "did you mean kuhn_poker"]),
        (["--page", "none.md"], ["rows.jsonl"]),
    ],
    ids=lambda x: " ".join(x),
)
def test_wrong_input_gives_one_sentence(arguments: list[str], words: list[str], capsys: Output, tmp_path: Path) -> None:
    check_failure(capsys, ["survey", "--rows", str(tmp_path / "rows.jsonl"), *arguments], *words)


def test_wrong_pages(capsys: Output, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    command = ["survey", "--rows", str(rows), "--page", str(page)]
    check_failure(capsys, command, "cannot read", "page.md")
    page.write_text("nothing\n", encoding="utf-8")
    check_failure(capsys, command, "page.md", "<!-- survey: policies -->")
    page.write_text("<!-- survey: nashcov kuhn_poker -->\n<!-- end -->\n", encoding="utf-8")
    check_failure(capsys, command, "nashcov", "did you mean nashconv")
    assert page.read_text(encoding="utf-8") == "<!-- survey: nashcov kuhn_poker -->\n<!-- end -->\n"
