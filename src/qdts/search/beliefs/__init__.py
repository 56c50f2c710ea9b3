"""Beliefs that replace H: the completions of a view, their likelihoods, and what is made of them.

Imports from `search.options`, `search.decision` and `search.evaluation`.
"""
