"""The variants that an option chooses from, each one member of an enum.

A member is a string, `Estimate.MIRROR == "mirror"`, and options may be given as plain strings. Kernels compare numbers:
the `number` of a member is its position in its enum, and the constants below an enum are its members' numbers. A new
variant is a member, its constant where kernels know it, and the function that implements it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Variant(StrEnum):
    """A variant by its word, with one line of explanation."""

    number: int
    """The position in the enum: how kernels know the variant."""
    help: str
    formerly: str | None
    """A former word that still works."""

    def __new__(cls, word: str, help: str = "", formerly: str | None = None) -> Variant:
        """A member by its word."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.number = len(cls.__members__)
        member.help = help
        member.formerly = formerly
        return member

    def __repr__(self) -> str:
        return repr(self.value)


def _numbers(variants: Iterable[Variant]) -> tuple[int, ...]:
    return tuple(variant.number for variant in variants)


class Machine(Variant):
    """What runs a search."""

    FOREST = "forest", "many trees, guided by P, V, V_c and H"
    BANDIT = "bandit", "UCB and playouts"


class Estimate(Variant):
    """P̂: how a simulated player's policy is estimated from their tree."""

    COUNTS = "counts", "N(a) / ΣN; P while there is no visit"
    DIRICHLET = "dirichlet", "(N(a) + κ P(a)) / (ΣN + κ)"
    STICKY = "sticky", "the distribution nearest to P among those that the counts do not rule out"
    PRIOR = "prior", "P"
    MIRROR = "mirror", "the mirror step of P on the values of the player's own tree"
    MIX = "mix", "the frequencies of the choices, with mixed choices counted by their distribution"


COUNTS, DIRICHLET, STICKY, PRIOR, MIRROR_ESTIMATE, MIX = _numbers(Estimate)


class Select(Variant):
    """How an ACT node chooses an action."""

    PUCT = "puct", "PUCT on intervals; P over the overlap set where intervals overlap"
    MIRROR = "mirror", "a sample from the mirror step of P"
    UNIFORM = "uniform", "the first action with the fewest visits", "even"
    UCB = "ucb", "the largest upper confidence bound"
    GUIDED = "guided", "the same, with the width of the bound weighted by P"


PUCT, MIRROR_SELECT, UNIFORM_SELECT, UCB, GUIDED = _numbers(Select)


class Backup(Variant):
    """What an ACT node backs up."""

    AVERAGE = "average", "the average of its actions' Q under mixed and pure choices"
    MIRROR = "mirror", "the expectation of Q under the mirror step of P"
    RUNNING = "running", "a running average of luck-adjusted values"


AVERAGE, MIRROR_BACKUP, RUNNING_BACKUP = _numbers(Backup)


class Form(Variant):
    """The form of Q at SAMPLE, CHANCE and OPPONENT nodes."""

    RESIDUAL = "residual", "the range of the expected V, plus the mean residual of the visited children"
    EXPECTED = "expected", "the range of the expected Q"
    RUNNING = "running", "a running average of luck-adjusted values"
    MASKED = "masked", "the range of the expected Q over visited children"


RESIDUAL, EXPECTED, RUNNING, MASKED = _numbers(Form)


class LuckBase(Variant):
    """Φ: what the luck of a sampled child is measured from, in running averages."""

    SAME = "same", "the expectation of what the child counts as"
    MU = "mu", "the expectation of V_c"
    V = "v", "V of the node"
    Q = "q", "Q of the node before this visit"
    NONE = "none", "no luck is taken off"


BASE_SAME, BASE_MU, BASE_V, BASE_Q, BASE_NONE = _numbers(LuckBase)


class LuckChild(Variant):
    """Φ: what the sampled child counts as."""

    Q = "q", "its Q"
    V = "v", "its V"
    VC = "vc", "V_c"


CHILD_Q, CHILD_V, CHILD_VC = _numbers(LuckChild)


class Ball(Variant):
    """Where the ball of distributions round H lies."""

    NODE = "node", "at each SAMPLE node"
    ROUTE = "route", "over whole routes through a chain of SAMPLE nodes"


NODE, ROUTE = _numbers(Ball)


class Unvisited(Variant):
    """Q of a child that was not visited."""

    CHILD = "child", "V_c"
    FPU = "fpu", "first-play urgency: V less a constant"


CHILD, FPU = _numbers(Unvisited)


class Decision(Variant):
    """How the root decides."""

    LCB = "lcb", "in proportion to N, over the actions whose confidence interval may hold the best value"
    MIRROR = "mirror", "the mirror step of P on the root's Q"
    VISITS = "visits", "in proportion to N"
    MOST = "most", "the action with the most visits"
    UCB = "ucb", "the action with the largest upper confidence bound"


class RootQ(Variant):
    """What the root's mirror step takes for Q."""

    MIDDLE = "middle", "the middle of the interval"
    NEAREST = "nearest", "the point of the interval nearest to the value of P"


class Belief(Variant):
    """H: the evaluator's, or what takes its place."""

    MODEL = "model", "the evaluator's H"
    RULES = "rules", "the rules' weights, hole by hole"
    HOLES = "holes", "uniform over the values of each hole"
    COMPLETIONS = "completions", "uniform over the completions of the view"
    BAYES = "bayes", "H at the player's last turn, and P of the others' moves since, by Bayes' rule"
    EXACT = "exact", "P of all of the others' moves, by Bayes' rule"
    VISITS = "visits", "the others' moves by searches from where they were made"


class RootBelief(Variant):
    """The belief at the root of the search."""

    MODEL = "model", "as everywhere"
    RESPONSES = "responses", "as if the others had responded to P from their first move", "answers"


class Trees(Variant):
    """The bandit's trees."""

    ONE = "one", "one tree, for the observer"
    MANY = "many", "one tree for each player and for what they may know"


class SelfDeterminization(Variant):
    """Whether the bandit's many trees also see worlds that the player knows to be impossible."""

    NONE = "none", "in no simulation"
    PURE = "pure", "in every simulation"
    SPLIT = "split", "in every second simulation"
