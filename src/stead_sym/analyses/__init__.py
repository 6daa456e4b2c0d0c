"""What is asked beside a verification: bounds, blame, symmetry, deepening, sweeps, agents at work."""
