"""The forest: many trees with P, V, V_c and H, and Q as intervals; one lane of arrays for each search.

Imports from every other folder of `search` but `search.bandit`.
"""
