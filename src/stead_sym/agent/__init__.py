"""Agents: decision contexts, the canonical wrapper, policies, language models, recorded agents of any kind.

One decision: this package can be called. `st.agent(identity="desk-v3")` is `python.agent`, under the name
that the package has, and neither hides the other.
"""

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package that is a decorator too."""

    def __call__(self, *given: object, **options: Any) -> Any:
        """`python.agent`."""
        from stead_sym.agent.python import agent

        if given:
            raise TypeError("an agent is recorded under an identity; write @st.agent(identity=...)")
        return agent(**options)


sys.modules[__name__].__class__ = _Package
