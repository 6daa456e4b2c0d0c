"""Decisions as records on which a verdict can rest: stored, exported, replayed."""
