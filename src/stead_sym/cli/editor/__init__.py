"""What an editor asks of a `.stead` file while it is written: the server, and the names that it knows."""
