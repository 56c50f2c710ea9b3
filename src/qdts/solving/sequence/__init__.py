"""The sequence form of two-player games: realisation plans, the payoff matrix between them, and the linear program.

Imports from `solving.tree`, `solving.policy` and `solving.exact`.
"""
