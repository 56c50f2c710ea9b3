"""Measuring large games in bounded memory: a sweep over one player's views that never holds all histories.

Imports from `solving.tree` and `solving.policy`.
"""
