"""The most that agents may do such that specifications hold, and how a gate says it."""
