"""Games of perfect information: min-max, alpha-beta, and value iteration on the graph of positions.

Imports from `solving.tree` and `solving.policy`.
"""
