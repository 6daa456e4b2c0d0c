"""Deployments without an established bound: verdicts of bounded fragments, and causes of growth."""
