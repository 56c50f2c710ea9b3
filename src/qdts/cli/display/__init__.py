"""What commands show: panels, tables, curves, pictures and progress.

Imports from no other folder of `cli`.
"""
