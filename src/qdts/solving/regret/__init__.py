"""Counterfactual regret minimisation: the schedules of the family, and one solver for each form of a game.

Imports from every other folder of `solving` but `solving.perfect` and `solving.sweep`.
"""
