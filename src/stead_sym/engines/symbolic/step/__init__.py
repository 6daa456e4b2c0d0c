"""Tools as diagrams: formulas, updates of bits, effects, the transition relation."""
