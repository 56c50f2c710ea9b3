"""What `qdts bench` and `qdts ablate` measure: qdts beside its peers, results of learning, and ideas switched alone.

Imports from no other folder of `cli`.
"""
