"""The survey: every search measured beside every other, and the page and the pictures that show it.

A front end: no kernel may import from here.
"""
