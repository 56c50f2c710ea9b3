"""The options of a search: what is refused, that each one is explained, and what kernels get of them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from qdts import InputError, load_game
from qdts.search.options.compatibility import options_for
from qdts.search.options.description import Choice, Number, Switch
from qdts.search.options.named import SEARCHES, named
from qdts.search.options.options import DESCRIPTIONS, Options
from qdts.search.options.packed import GameNumbers, PackedOptions, pack_options
from qdts.search.options.variants import MASKED, STICKY, UNIFORM_SELECT, Estimate, Form, Machine, Select, Variant

NUMBERS = [name for name, d in DESCRIPTIONS.items() if isinstance(d, Number) and name != "max_nodes"]
CHOICES = {name: [*d.variants] for name, d in DESCRIPTIONS.items() if isinstance(d, Choice)}
SWITCHES = [name for name, d in DESCRIPTIONS.items() if isinstance(d, Switch)]
BAD = (
    [(name, value) for name in NUMBERS for value in (-1.0, float("nan"), float("inf"), "1", None, True)]
    + [(name, 0.0) for name in ("pseudo_visits", "confidence", "prior_temperature", "noise_alpha")]
    + [("eps_sample", 2.1), ("eps_opponent", 2.1), ("noise", 1.1), ("confidence", 1.1)]
    + [(name, value) for name in CHOICES for value in ("nonsense", "", None, 1)]
    + [("max_nodes", value) for value in (0, -1, 1.5, float("nan"), "7", True, 10**12)]
    + [(name, value) for name in SWITCHES for value in ("yes", None, 1)]
)


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_value_is_one_clear_sentence(name: str, value: Any) -> None:
    with pytest.raises(InputError) as error:
        named("qdts", **{name: value})
    text = str(error.value)
    assert name in text
    assert str(value) in text
    assert "expected" in text or any(word in text for word in CHOICES.get(name, ()))
    assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("c", -1, "c=-1 is not possible for a search, expected a number that is not negative"),
        ("noise", 2, "noise=2 is not possible for a search, expected a number from 0 to 1"),
        ("max_nodes", 0, "max_nodes=0 is not possible for a search, expected a whole number from 1 to 2,000,000,000"),
        ("response_visits", 1.5, "response_visits=1.5 is not possible for a search, expected a whole number"),
        ("widen", 1, "widen=1 is not possible for a search, expected true or false"),
        ("ball", "nodes", "unknown ball of a search 'nodes': did you mean node? the choices are node, route"),
    ],
)
def test_errors_word_for_word(name: str, value: Any, text: str) -> None:
    with pytest.raises(InputError) as error:
        named("qdts", **{name: value})
    assert str(error.value) == text


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="qdts"):
        named("qtds")
    with pytest.raises(InputError, match="eps_sample"):
        named("qdts", eps_sampel=0.1)


def test_everything_is_explained_in_one_line() -> None:
    variants = [variant for choices in CHOICES.values() for variant in choices]
    for described in (*DESCRIPTIONS.values(), *variants, *SEARCHES.values()):
        assert described.help.strip()
        assert "\n" not in described.help
    assert [*DESCRIPTIONS] == [f.name for f in fields(Options)]


def test_a_variant_is_its_word() -> None:
    options = named("qdts", estimate="mirror")
    assert options == named("qdts", estimate=Estimate.MIRROR) == replace(named("qdts"), estimate=Estimate.MIRROR)
    assert options.estimate == "mirror"
    assert options.estimate is Estimate.MIRROR
    assert {"mirror": 1}[options.estimate] == 1
    assert f"{options.estimate}" == "mirror"
    assert "estimate='mirror'" in repr(options)


@pytest.mark.parametrize("variants", Variant.__subclasses__())
def test_variants_are_numbered_in_their_order(variants: type[Variant]) -> None:
    assert [variant.number for variant in variants] == [*range(len(variants))]
    assert [variants(variant.value) for variant in variants] == [*variants]


def test_changes_leave_the_named_searches_alone() -> None:
    assert named("qdts", c=2.0).c == 2.0
    assert named("qdts") == SEARCHES["qdts"].options == Options()
    assert [*SEARCHES] == [
        "puct",
        "a-ismcts",
        "qdts",
        "qdts-descent",
        "qdts-backprop",
        "nash-ismcts",
        "mmds",
        "uct",
        "ismcts",
        "mt-ismcts",
    ]


def test_kernels_get_numbers() -> None:
    game = load_game("leduc_poker")
    options = named(
        "qdts", c=0.3, doubt=0.1, fpu=1, estimate="sticky", root_select="uniform", opponent_q="masked", share=True
    )
    packed = pack_options(game, options)
    assert (packed.hidden, packed.players, packed.scale) == (1, 2, game.scale)
    assert (packed.c, packed.doubt, packed.fpu) == (0.3 * game.scale, 0.1 * game.scale, game.scale)
    assert (packed.eps_sample, packed.max_nodes, packed.widen, packed.share) == (0.1, 10_000_000, 0, 1)
    assert (packed.estimate, packed.root_select, packed.opponent_q) == (STICKY, UNIFORM_SELECT, MASKED)
    assert [Estimate.STICKY.number, Select.UNIFORM.number, Form.MASKED.number] == [STICKY, UNIFORM_SELECT, MASKED]
    whole = [*GameNumbers._fields[:3], *(n for n, d in DESCRIPTIONS.items() if d.in_kernels and d.whole)]
    assert all(isinstance(getattr(packed, name), int) for name in whole)
    assert all(isinstance(getattr(packed, name), float) for name in PackedOptions._fields if name not in whole)


def test_a_search_refuses_options_that_it_does_not_read() -> None:
    game = load_game("kuhn_poker")
    with pytest.raises(
        InputError, match=r"eps_sample=0\.2 means nothing to ismcts, expected an option of the bandit: "
    ):
        options_for(game, "ismcts", eps_sample=0.2)
    with pytest.raises(InputError, match="trees=many means nothing to qdts, expected an option of the forest: "):
        options_for(game, "qdts", trees="many")
    assert options_for(game, "ismcts", eps_sample=0.1) == named("ismcts")
    read = {m: {name for name, d in DESCRIPTIONS.items() if m in d.readers} for m in Machine}
    assert {*DESCRIPTIONS} - read[Machine.FOREST] == {"machine", "trees", "self_determinization"}
    assert read[Machine.BANDIT] == {
        "c", "belief", "decision", "c_lcb", "root_step", "root_reach", "root_q", "doubt", "root_doubt", "c_doubt",
        "root_temperature", "max_nodes", "trees", "self_determinization",
    }  # fmt: skip
