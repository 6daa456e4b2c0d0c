"""Deployments without an established bound: what their bounded fragments show, and why a bound is
exceeded.
"""
