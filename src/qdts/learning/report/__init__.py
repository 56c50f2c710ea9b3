"""The report of a run: an HTML page with pictures.

May import runs, metrics and settings.
"""
