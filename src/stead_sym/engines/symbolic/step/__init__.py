"""What a tool does, as diagrams: formulas, updates of bits, effects, the transition relation."""
