"""Plan a deployment: everything that is fixed before exploration, and its explanation."""
