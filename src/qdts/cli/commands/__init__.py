"""The commands of `qdts`: a file for each, with the name of the command, and the arguments that several of them take.

Imports from `display` and `benchmarks`. Anything heavy is imported inside the functions that need it.
"""
