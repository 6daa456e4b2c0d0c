"""What was decided, as records that a verdict can rest on: kept in a store, exported, replayed."""
