"""The report of a run, and runs side by side: HTML pages with pictures.

May import runs, metrics and settings.
"""
