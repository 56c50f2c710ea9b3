"""What commands show: panels of facts, tables, curves, pictures and progress.

Imports from `benchmarks`, and from no other folder of `cli`.
"""
