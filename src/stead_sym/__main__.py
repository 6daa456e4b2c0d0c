"""`python -m stead_sym`: the same as the command `stead-sym`."""

from stead_sym.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
