"""States and values as bits: which facts get some, how few, in which order, under which names."""
