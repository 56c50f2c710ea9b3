"""Targets: the training examples of P, V with V_c, and H, one file each.

May import self-play, the nodes and settings of learning, and networks.
"""
