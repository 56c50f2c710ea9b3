"""A checkpoint: the weights of a game's networks, with their settings and metrics, in one file.

It is a safetensors file, which holds tensors and text and no code. Format version 1:

    entry               holds
    model.…             the model of P, V and V_c, as its `state_dict` names them
    average.…           the moving average of it
    belief.…            the model of H
    average_belief.…    the model of H̄, for the moving average
    optimizer.…         the optimisers' state
    metadata "qdts"     JSON: {"format": "qdts-checkpoint", "format_version": 1, "game": the game's name with
                        parameters, "game_version": int, "generation": int, "config": {…}, "metrics": {…},
                        "sha256": the digest of all else}

A group may be missing, and other groups are kept as they are. The digest is the SHA-256 of this JSON text in UTF-8,
with "" in place of the digest, followed for each tensor, in the order of names, by its name, type and shape as in
`model.weight float32 [2, 3]` between two zero bytes, and its numbers, row by row, little-endian. So no change to a file
goes unnoticed, and equal checkpoints are equal files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from qdts.errors import InputError
from qdts.files import write_whole
from qdts.games.game import Game
from qdts.games.registry import matching_game

FORMAT, FORMAT_VERSION = "qdts-checkpoint", 1
KEY = "qdts"
"""The entry of a safetensors file's metadata that holds the JSON."""
KINDS = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool)
"""Types of tensors that a checkpoint may hold."""
ENTRIES = {"game": str, "game_version": int, "generation": int, "config": dict, "metrics": dict, "sha256": str}
"""What the JSON holds besides the format."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Networks after a generation of learning."""

    game: Game
    generation: int
    """The number of generations that they have learned from."""
    config: Mapping[str, Any]
    """The settings that the models are rebuilt from; JSON values."""
    metrics: Mapping[str, Any]
    """What was measured; JSON values."""
    tensors: Mapping[str, Tensor] = field(repr=False)
    """By names such as `model.body.last.weight`; the first word is the group."""

    def part(self, name: str) -> dict[str, Tensor]:
        """The tensors of one group, without its name; none if there is no such group."""
        return group_of(self.tensors, name)


def group_of(tensors: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    """The tensors of one group, without its name; none if there is no such group."""
    start = f"{name}."
    return {key.removeprefix(start): tensor for key, tensor in tensors.items() if key.startswith(start)}


def save_checkpoint(checkpoint: Checkpoint, path: str | Path) -> None:
    """Write a checkpoint file, whole or not at all.

    Args:
        checkpoint: What is written.
        path: The file.

    Raises:
        InputError: A number is not finite, config or metrics are not JSON values, or the file can't be written.
    """
    tensors = {
        name: tensor.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
        for name, tensor in checkpoint.tensors.items()
    }
    _verify(tensors, f"the checkpoint for '{path}'")
    meta = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": checkpoint.game.spec,
        "game_version": checkpoint.game.version,
        "generation": checkpoint.generation,
        "config": dict(checkpoint.config),
        "metrics": dict(checkpoint.metrics),
        "sha256": "",
    }
    try:
        unsealed = json.dumps(meta, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"cannot write '{path}': config and metrics must be JSON values ({error})") from error
    text = json.dumps(meta | {"sha256": _digest(unsealed, tensors)})
    data = safetensors.torch.save(tensors, {KEY: text})
    write_whole(Path(path), lambda file: file.write(data))


def load_checkpoint(path: str | Path, game: Game | None = None) -> Checkpoint:
    """Read a checkpoint file. Nothing in it is ever run.

    Args:
        path: The file.
        game: The game that the checkpoint must be for. A game of your own must be given:
            `load_checkpoint(path, load_game("./my_game.py"))`.

    Returns:
        The checkpoint, its tensors on the CPU.

    Raises:
        InputError: The file is missing, damaged, no checkpoint, or for another game or version of it.
    """
    meta, tensors = _read(Path(path))
    game = matching_game(path, "a checkpoint for", meta["game"], meta["game_version"], game)
    _verify(tensors, f"checkpoint '{path}'")
    return Checkpoint(game, meta["generation"], meta["config"], meta["metrics"], tensors)


def load_into(module: nn.Module, tensors: Mapping[str, Tensor], what: str) -> None:
    """Load tensors into a module; they must be exactly those that it has.

    Args:
        module: What is changed.
        tensors: By the names of the module's `state_dict`.
        what: Names the tensors in errors: `the model of 'run.safetensors'`.

    Raises:
        InputError: A tensor is missing, left over, of another shape or not finite. The module stays as it was.
    """
    own = module.state_dict()
    for name in own:
        if name not in tensors:
            raise InputError(f"{what} lacks the tensor '{name}', expected {len(own)} tensors as the network has them")
    for name, tensor in tensors.items():
        if name not in own:
            raise InputError(f"{what} has a tensor '{name}', which the network does not have")
        if tensor.shape != own[name].shape or tensor.is_floating_point() != own[name].is_floating_point():
            raise InputError(f"the tensor '{name}' of {what} is {_kind(tensor)}, expected {_kind(own[name])}")
    fitting = {name: tensor.to(own[name].dtype) for name, tensor in tensors.items()}
    _verify(fitting, what)
    module.load_state_dict(fitting)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file '{path}', expected a checkpoint made by qdts") from None
    except OSError as error:
        raise InputError(f"cannot read '{path}': {error.strerror or error}") from error
    try:
        tensors = safetensors.torch.load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except Exception as error:  # neither safetensors nor torch lists the errors of a damaged file
        raise InputError(f"'{path}' is not a checkpoint made by qdts ({error})") from error
    text = (header.get("__metadata__") or {}).get(KEY)
    if text is None:
        raise InputError(f"'{path}' is a safetensors file, but no checkpoint made by qdts: it has no '{KEY}' metadata")
    try:
        meta = json.loads(text)
        if (meta["format"], meta["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise InputError(
                f"'{path}' has format {meta['format']} {meta['format_version']}, expected {FORMAT} {FORMAT_VERSION}"
            )
        wrong = [name for name, kind in ENTRIES.items() if type(meta[name]) is not kind]
        if wrong:
            raise InputError(f"the meta data of checkpoint '{path}' are malformed ({wrong[0]} is {meta[wrong[0]]!r})")
        digest = _digest(text.replace(meta["sha256"], ""), tensors)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the meta data of checkpoint '{path}' are malformed ({error!r})") from error
    if digest != meta["sha256"]:
        raise InputError(f"checkpoint '{path}' is damaged: its contents do not match their SHA-256")
    return meta, tensors


def _digest(text: str, tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of a text and of tensors that lie in memory row by row."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\0{name} {_kind(tensor)}\0".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _kind(tensor: Tensor) -> str:
    """Type and shape: `float32 [2, 3]`."""
    return f"{_name(tensor.dtype)} {list(tensor.shape)}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _verify(tensors: Mapping[str, Tensor], what: str) -> None:
    """Raise an InputError unless all tensors are of a type in KINDS, and all numbers finite."""
    for name, tensor in tensors.items():
        if tensor.dtype not in KINDS:
            listed = ", ".join(_name(kind) for kind in KINDS)
            raise InputError(f"the tensor '{name}' of {what} is {_kind(tensor)}, expected one of {listed}")
        if not torch.isfinite(tensor).all():
            raise InputError(f"the tensor '{name}' of {what} holds a number that is not finite")
