"""What a search is made of: its options, the variants they choose from, the named searches, and how they are read.

Imports nothing of the other folders of `search`.
"""
