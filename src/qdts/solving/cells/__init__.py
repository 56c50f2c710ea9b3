"""Measuring games of hidden stones on one board, cell by cell: lists of tries that are equal from there on are merged.

Imports from `solving.policy`, `solving.sweep.progress` and the rules of `games.rules.hidden_moves`.
"""
