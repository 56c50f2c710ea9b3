"""The memory of searches: one lane of arrays for each, how it is laid out, and where it comes from.

Imports nothing of the other folders of `search.forest`.
"""
