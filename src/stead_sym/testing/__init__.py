"""Language models to try agents with: one of no library, and a small one that is made on the spot."""
