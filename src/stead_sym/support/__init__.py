"""What every layer may use and none is about: progress, markup, printable text, folders, memory."""
