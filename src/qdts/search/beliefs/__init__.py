"""What takes the place of H: completions of a view, their likelihoods, and beliefs made of them.

Imports from `search.options`, `search.decision` and `search.evaluation`.
"""
