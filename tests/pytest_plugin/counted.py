"""A conftest with which a module of the plugin notes each verification: an x in the file `verified`."""

COUNTED = """
import pytest_stead.{module} as plugin

verify = plugin.verify

def counting(*words, **settings):
    with open("verified", "a") as file:
        file.write("x")
    return verify(*words, **settings)

plugin.verify = counting
"""
