"""The phases of a visit: choosing an edge, making its child, evaluating it, and going back along the path.

Imports from `search.forest.lanes` and `search.forest.values`.
"""
