"""From a deployment to everything that is fixed before exploration, and what that looks like."""
