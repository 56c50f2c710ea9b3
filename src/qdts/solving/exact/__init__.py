"""Exact quantities of a policy on the enumerated game: values, beliefs and best responses.

Imports from `solving.tree` and `solving.policy`.
"""
