"""The rules of the games that come with the package: one module a game, or one folder where a game needs several.

`registry.NATIVE` lists them by name. A module holds the rules, `build` and a `FAMILY`, and imports only from the
parts of `qdts.games` above it and from the package's foundation.
"""
