"""What Q is: the value of an edge, expectations over a ball, luck, the estimate of an opponent, and backing up.

Imports from `search.forest.lanes` alone.
"""
