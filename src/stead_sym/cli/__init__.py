"""The command `stead-sym`: one module per command, `main` with the parser and the exit status."""
