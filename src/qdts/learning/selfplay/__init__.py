"""Self-play: games decided by search and kept as records, and games sampled from P alone.

May import the nodes and settings of learning, networks and search.
"""
