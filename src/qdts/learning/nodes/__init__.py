"""Nodes of search trees outside of a search, and what networks evaluate there.

May import networks and search; no other room of learning.
"""
