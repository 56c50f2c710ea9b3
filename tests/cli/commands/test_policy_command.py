"""`qdts policy`: what it prints, and wrong files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from cli.running import Output, check_failure, run_json, run_text
from qdts.cli import main


def test_policy_for_people(capsys: Output, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.npz"
    run_json(capsys, "solve", "kuhn_poker(players=3)", "--iterations", "20", "--out", str(file))
    text = run_text(capsys, "policy", str(file))
    for words in ("kuhn_poker(players=3)", "algorithm dcfr, iterations 20", "to player 2", "; to open"):
        assert words in text


def saved_policy(folder: Path, **changes: object) -> Path:
    """A policy file for Kuhn poker with some of its meta data changed."""
    file = folder / "changed.npz"
    main(["solve", "kuhn_poker", "--iterations", "1", "--out", str(file), "--json"])
    with np.load(file) as entries:
        arrays = dict(entries)
    meta = json.loads(arrays.pop("meta").tobytes()) | changes
    np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return file


def test_bad_policy_files_give_one_sentence(capsys: Output, tmp_path: Path) -> None:
    text = tmp_path / "text.npz"
    text.write_text("not a policy")
    check_failure(capsys, ["policy", str(text)], "text.npz", "not a policy file")
    check_failure(capsys, ["policy", str(saved_policy(tmp_path)), "--game", "leduc_poker"], "kuhn_poker", "leduc_poker")
    check_failure(capsys, ["policy", str(saved_policy(tmp_path, game_version=99))], "version 99")
    check_failure(capsys, ["policy", str(saved_policy(tmp_path, game="kuhn_poke"))], "did you mean kuhn_poker")
