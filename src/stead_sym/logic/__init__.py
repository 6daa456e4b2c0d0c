"""Formulas of first-order CTL: syntax, text, sorts, and first-order satisfaction on an instance."""
