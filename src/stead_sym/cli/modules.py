"""Import a module of the user: an agent, the tools of a system, a binding."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType


def user_module(name: str) -> ModuleType:
    """Return the module; it, and what it imports later, is searched in the current folder first.

    Raise whatever importing it raises.
    """
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)
