"""The commands of `qdts`, one file each.

Import from every other folder.
"""
