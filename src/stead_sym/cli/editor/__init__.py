"""The language server for `.stead` files, and the names in a file with their meanings."""
