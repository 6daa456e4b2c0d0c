"""From a decision context to the text that a language model is sent."""
