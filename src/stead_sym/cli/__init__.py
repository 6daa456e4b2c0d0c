"""The command `stead-sym`: one module per command, and `main` with the exit status."""
