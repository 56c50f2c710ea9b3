"""The enumerated game: every history and every information set in flat arrays, and the walk that fills them.

Imports nothing of the other folders of `solving`.
"""
