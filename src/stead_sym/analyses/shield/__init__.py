"""Synthesis of the most permissive restriction of agents such that specifications hold, as a gate."""
