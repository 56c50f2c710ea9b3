"""What a generation learns from: games sampled from P in bulk, or games decided by search.

May import self-play, targets, the nodes and settings of learning, and networks.
"""
