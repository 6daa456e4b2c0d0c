"""Packaged deployments, and programs that use them."""
