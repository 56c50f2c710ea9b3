"""Checkpoint files: what is written is read back, and nothing else is accepted."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from qdts import InputError, load_game
from qdts.nets.checkpoint import Checkpoint, _digest, load_checkpoint, load_into, save_checkpoint
from qdts.nets.model import Belief, PolicyValue

CONFIG = {"width": 4, "layers": 2, "rate": 1e-3, "name": "Übung", "trunk": None, "list": [1, [2.5]]}
METRICS = {"loss": 0.1 + 0.2, "by": {"P": 1, "V": -2.5e-17}}


def prefixed(group: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{group}.{name}": tensor for name, tensor in tensors.items()}


def make_checkpoint(spec: str = "kuhn_poker") -> Checkpoint:
    game = load_game(spec)
    torch.manual_seed(3)
    model, belief = PolicyValue(game, width=4, layers=2), Belief(game, width=3, layers=1)
    optimizer = {"step": torch.tensor(7.0), "seen": torch.tensor([2**40, -1]), "none": torch.zeros((0, 2))}
    tensors = (
        prefixed("model", model.state_dict())
        | prefixed("average", model.state_dict())
        | prefixed("belief", belief.state_dict())
        | prefixed("optimizer", optimizer)
    )
    return Checkpoint(game, 12, CONFIG, METRICS, tensors)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a good file."""
    path = tmp_path_factory.mktemp("whole") / "c.safetensors"
    save_checkpoint(make_checkpoint(), path)
    return path.read_bytes()


def assert_equal(one: Checkpoint, other: Checkpoint) -> None:
    assert (one.game.spec, one.generation) == (other.game.spec, other.generation)
    assert (one.config, one.metrics) == (other.config, other.metrics)
    assert one.tensors.keys() == other.tensors.keys()
    for name, tensor in one.tensors.items():
        again = other.tensors[name]
        assert (again.dtype, again.shape, again.device.type) == (tensor.dtype, tensor.shape, "cpu")
        assert again.contiguous().numpy().tobytes() == tensor.contiguous().numpy().tobytes(), name


@pytest.mark.parametrize("spec", ["kuhn_poker", "tic_tac_toe", "liars_dice(numdice=2,dice_sides=3)"])
def test_round_trip(spec: str, tmp_path: Path) -> None:
    """Bit for bit, convolutions' weights too, whatever their order in memory; and the same file each time."""
    path, checkpoint = tmp_path / "c.safetensors", make_checkpoint(spec)
    save_checkpoint(checkpoint, path)
    again = load_checkpoint(path)
    assert_equal(checkpoint, again)
    before = path.read_bytes()
    save_checkpoint(again, path)
    assert path.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["c.safetensors"]

    torch.manual_seed(99)
    models: list[tuple[str, torch.nn.Module]] = [
        ("model", PolicyValue(again.game, width=4, layers=2)),
        ("belief", Belief(again.game, width=3, layers=1)),
    ]
    for group, model in models:
        load_into(model, again.part(group), group)
        for name, tensor in model.state_dict().items():
            assert torch.equal(tensor, checkpoint.tensors[f"{group}.{name}"])


def test_parts() -> None:
    game = load_game("kuhn_poker")
    names = ["model.a", "model.b.c", "models.a", "average.a"]
    checkpoint = Checkpoint(game, 0, {}, {}, {name: torch.tensor(float(i)) for i, name in enumerate(names)})
    assert {name: float(x) for name, x in checkpoint.part("model").items()} == {"a": 0.0, "b.c": 1.0}
    assert list(checkpoint.part("average")) == ["a"]
    assert checkpoint.part("optimizer") == {}


def test_other_types_and_views_of_tensors(tmp_path: Path) -> None:
    """Slices, transposed and repeated tensors are written as what they hold."""
    base = torch.arange(24.0).reshape(4, 6)
    tensors = {
        "model.base": base,
        "model.slice": base[1:3, ::2],
        "model.turned": base.T,
        "model.same": base[0].expand(3, 6),
        "model.half": base.half(),
        "model.brain": base.bfloat16(),
        "model.double": base.double(),
        "model.bits": base > 5,
    }
    path = tmp_path / "c"
    save_checkpoint(Checkpoint(load_game("kuhn_poker"), 0, {}, {}, tensors), path)
    again = load_checkpoint(path).tensors
    for name, tensor in tensors.items():
        assert again[name].dtype == tensor.dtype
        assert torch.equal(again[name], tensor), name


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Tensor]], object], *, seal: bool = True) -> None:
    """Change the meta data or the tensors of a file, with the digest that is right for them."""
    tensors = safetensors.torch.load_file(path)
    with safetensors.safe_open(path, "pt") as file:
        meta = json.loads(file.metadata()["qdts"])
    change(meta, tensors)
    if seal:
        meta["sha256"] = _digest(json.dumps(meta | {"sha256": ""}), tensors)
    path.write_bytes(safetensors.torch.save(tensors, {"qdts": json.dumps(meta)}))


NAME = "model.body.layers.0.bias"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m, _: m.update(format="other"), "has format other 1, expected qdts-checkpoint 1"),
        (lambda m, _: m.update(format_version=2), "has format qdts-checkpoint 2, expected qdts-checkpoint 1"),
        (lambda m, _: m.update(game_version=7), "is for version 7 of kuhn_poker, expected version 1"),
        (lambda m, _: m.update(game="kuhn_pokre"), "unknown game 'kuhn_pokre': did you mean kuhn_poker"),
        (lambda m, _: m.update(game="./evil.py"), "'./evil.py' is the path of a file, expected the name of a game"),
        (lambda m, _: m.update(game=3), "malformed .game is 3"),
        (lambda m, _: m.update(generation="3"), "malformed .generation is '3'"),
        (lambda m, _: m.update(generation=True), "malformed .generation is True"),
        (lambda m, _: m.update(config=[1]), r"malformed .config is \[1\]"),
        (lambda m, _: m.pop("metrics"), "malformed .KeyError.'metrics'"),
        (lambda _, t: t[NAME].fill_(np.nan), f"tensor '{NAME}' of checkpoint .* holds a number that is not finite"),
        (lambda _, t: t[NAME].fill_(np.inf), f"tensor '{NAME}' of checkpoint .* holds a number that is not finite"),
        (
            lambda _, t: t.update({NAME: t[NAME].to(torch.float8_e4m3fn)}),
            rf"tensor '{NAME}' .* is float8_e4m3fn \[4\], expected one of float64, float32",
        ),
    ],
)
def test_malformed_files(change: Callable[..., object], words: str, whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_bytes(whole)
    rewrite(path, change)
    with pytest.raises(InputError, match=words):
        load_checkpoint(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda m, _: m.update(generation=13),
        lambda m, _: m["config"].update(width=5),
        lambda m, _: m.update(sha256=""),
        lambda _, t: t[NAME].add_(1.0),
        lambda _, t: t.pop(NAME),
        lambda _, t: t.update({"model.more": torch.zeros(1)}),
        lambda _, t: t.update({NAME: t[NAME].reshape(2, 2)}),
    ],
)
def test_what_was_changed_is_noticed(change: Callable[..., object], whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_bytes(whole)
    rewrite(path, change, seal=False)
    with pytest.raises(InputError, match="is damaged: its contents do not match their SHA-256"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no checkpoint made by qdts: it has no 'qdts' metadata"),
        ("not json", "meta data of checkpoint .* are malformed"),
        ("[1]", "meta data of checkpoint .* are malformed"),
        ("null", "meta data of checkpoint .* are malformed"),
        ("[" * 100_000, "meta data of checkpoint .* are malformed"),
    ],
)
def test_foreign_meta_data(text: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_bytes(safetensors.torch.save({"a": torch.zeros(2)}, {"format": "pt"} | ({"qdts": text} if text else {})))
    with pytest.raises(InputError, match=words):
        load_checkpoint(path)


class Trap:
    """Something that, unpickled, leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


def test_files_of_other_kinds(tmp_path: Path) -> None:
    path, trace = tmp_path / "c", tmp_path / "trace"
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    torch.save({"a": Trap(trace)}, tmp_path / "a.pt")
    header = b'{"__metadata__":null}'
    contents = [
        (tmp_path / "a.npz").read_bytes(), (tmp_path / "a.pt").read_bytes(), pickle.dumps(Trap(trace)), b"", b"hello",
        bytes(100), b"\xff" * 100, np.random.default_rng(0).bytes(1000), len(header).to_bytes(8, "little") + header,
    ]  # fmt: skip
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"c' is (not a|a safetensors file, but no) checkpoint made by qdts"):
            load_checkpoint(path)
    assert not trace.exists()
    with pytest.raises(InputError, match=r"there is no file '.*none', expected a checkpoint made by qdts"):
        load_checkpoint(tmp_path / "none")
    with pytest.raises(InputError, match=r"cannot read '.*': Is a directory"):
        load_checkpoint(tmp_path)


def test_other_games(whole: bytes, tmp_path: Path) -> None:
    path, kuhn = tmp_path / "c", load_game("kuhn_poker")
    path.write_bytes(whole)
    assert load_checkpoint(path, kuhn).game is kuhn
    with pytest.raises(InputError, match="c' is a checkpoint for kuhn_poker, expected leduc_poker"):
        load_checkpoint(path, load_game("leduc_poker"))
    with pytest.raises(InputError, match="is for version 1 of kuhn_poker, expected version 5"):
        load_checkpoint(path, replace(kuhn, version=5))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_files_never_pass_unnoticed(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damage") / "c"
    header = 8 + int.from_bytes(whole[:8], "little")
    at = data.draw(st.one_of(st.integers(0, 15), st.integers(0, header), st.integers(0, len(whole) - 1)))
    path.write_bytes(whole[:at])
    with pytest.raises(InputError):
        load_checkpoint(path)
    flipped = bytearray(whole)
    flipped[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(flipped))
    try:
        loaded = load_checkpoint(path)
    except InputError:
        return
    assert_equal(loaded, make_checkpoint())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, checkpoint = tmp_path / "c", make_checkpoint()
    save_checkpoint(checkpoint, path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"cannot write '.*c': No space left on device"):
            save_checkpoint(replace(checkpoint, generation=13), path)
    for wrong, words in [
        (replace(checkpoint, metrics={"loss": float("nan")}), "must be JSON values"),
        (replace(checkpoint, config={"path": path}), "must be JSON values"),
        (replace(checkpoint, tensors={"model.a": torch.tensor([0.0, np.nan])}), "'model.a' .* not finite"),
    ]:
        with pytest.raises(InputError, match=words):
            save_checkpoint(wrong, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match=r"cannot write '.*': No such file or directory"):
        save_checkpoint(checkpoint, tmp_path / "none" / "c")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.pop("body.layers.0.bias"), "the model lacks the tensor 'body.layers.0.bias', expected 6 tensors"),
        (lambda t: t.clear(), "the model lacks the tensor 'body.layers.0.weight'"),
        (lambda t: t.update(more=torch.zeros(1)), "has a tensor 'more', which the network does not have"),
        (
            lambda t: t.update({"body.layers.0.bias": torch.zeros(5)}),
            r"tensor 'body.layers.0.bias' of the model is float32 \[5\], expected float32 \[4\]",
        ),
        (lambda t: t.update({"body.layers.0.bias": torch.zeros(4, dtype=torch.int64)}), r"is int64 \[4\], expected"),
        (lambda t: t["body.layers.4.bias"].fill_(np.nan), "'body.layers.4.bias' of the model holds .* not finite"),
        (
            lambda t: t.update({"body.layers.0.bias": torch.full((4,), 1e300, dtype=torch.float64)}),
            "'body.layers.0.bias' of the model holds .* not finite",
        ),
    ],
)
def test_tensors_that_do_not_fit_change_nothing(change: Callable[..., object], words: str) -> None:
    checkpoint = make_checkpoint()
    model = PolicyValue(checkpoint.game, width=4, layers=2)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors = {name: tensor.clone() for name, tensor in checkpoint.part("model").items()}
    change(tensors)
    with pytest.raises(InputError, match=words):
        load_into(model, tensors, "the model")
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_a_trunk_of_another_kind_is_told() -> None:
    game = load_game("tic_tac_toe")
    conv, mlp = PolicyValue(game, width=4), PolicyValue(game, width=4, trunk="mlp")
    with pytest.raises(InputError, match=r"'c.safetensors' lacks the tensor 'body.layers.0.weight'"):
        load_into(mlp, conv.state_dict(), "'c.safetensors'")
