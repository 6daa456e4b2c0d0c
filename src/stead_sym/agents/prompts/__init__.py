"""Convert a decision context to the prompt of a language model."""
