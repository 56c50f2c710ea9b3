"""What the root makes of a search: the mirror step, the decision, and the result that a caller gets.

Imports from `search.options` alone.
"""
