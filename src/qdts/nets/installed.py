"""Imported before any other module of networks: fails in one sentence where torch is not installed."""

from __future__ import annotations

from qdts.packages import verify_installed

verify_installed("networks need", "nets")
