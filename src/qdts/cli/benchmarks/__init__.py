"""What `qdts bench` measures: qdts beside its peers, in one process on one machine.

Imports from no other folder of `cli`.
"""
