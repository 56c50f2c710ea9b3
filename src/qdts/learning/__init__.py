"""Learning: generations of self-play and training, and the runs that keep them.

Its rooms: nodes, selfplay, targets and report. May import networks, search and the rooms before them.
"""
