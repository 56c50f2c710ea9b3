"""The bandit: UCB and playouts, in one tree or one for each player.

Imports from every other folder of `search` but `search.forest`.
"""
