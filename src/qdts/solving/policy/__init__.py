"""What a policy is: a table by view, a function of views, a file, and OpenSpiel's tables.

Imports from `solving.tree` alone.
"""
