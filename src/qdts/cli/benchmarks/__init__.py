"""What `qdts bench` runs: ours beside the peers, in one process on one machine.

Imports from no other folder of `cli`.
"""
