"""Specifications shown on the few facts that they depend on; the theorem is in `local.model`."""
