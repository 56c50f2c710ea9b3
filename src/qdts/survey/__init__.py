"""The survey: every search measured beside the others (plan, measure, rows), and the page and pictures that show it.

A front end: imports from `search`, `solving` and below, and no kernel may import from here.
"""
