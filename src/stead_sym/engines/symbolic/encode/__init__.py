"""Encode states and values as bits: which facts have bits, how many, in which order, under which names."""
