"""Where P, V, V_c and H come from: the evaluator's protocol, batches, and the evaluators that need no network.

Imports from `search.options` alone.
"""
