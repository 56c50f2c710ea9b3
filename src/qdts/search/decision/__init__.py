"""The root's decision: the mirror step, the distribution that a move is sampled from, and the result of a search.

Imports from `search.options` alone.
"""
