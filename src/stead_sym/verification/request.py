"""Requests for a verification, as arguments of the command line.

One decision: commands, sweeps, `verify_apart` and lines of pytest all create this value. One place reads it
and one place writes it as arguments, so that all of them offer the same requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.deployment.files import load
from stead_sym.deployment.harness import in_harness
from stead_sym.deployment.parts import ANY, AS_WRITTEN, Harness
from stead_sym.logic.parser import parse_formula


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A deployment with its agents, its harness and specifications, as text.

    ``file`` is a path, the name of an example, or `-` for stdin. ``policies``, ``agents`` and ``replays`` are
    the values of these options: `NAME`, or `AGENT=NAME`. If ``specs`` and
    ``formulas`` are both None, all specifications are requested. ``options`` are further arguments of
    `verify`.
    """

    file: str = "-"
    policies: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    replays: tuple[str, ...] = ()
    harness: Harness = AS_WRITTEN
    specs: tuple[str, ...] | None = None
    formulas: tuple[str, ...] | None = None
    domain: str | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        agent: str | Mapping[str, str],
        questions: Iterable[str] | None,
        gates: str | Iterable[str],
        known: Iterable[str] = (),
        options: Iterable[str] = (),
        calls: str | None = None,
    ) -> Request:
        """Return the request for an agent, or several by name, and specifications.

        ``questions`` are names of specifications, such as those of ``known``, and formulas.
        """
        given = agent if isinstance(agent, Mapping) else {"": agent}
        words = {name: f"{name}={who}" if name else who for name, who in given.items()}
        names, asked = {*known}, None if questions is None else [*questions]
        return cls(
            policies=tuple(words[name] for name, who in given.items() if not _is_no_policy(who)),
            agents=tuple(words[name] for name, who in given.items() if _is_no_policy(who)),
            harness=Harness((gates,) if isinstance(gates, str) else tuple(gates), calls),
            specs=None if asked is None else tuple(q for q in asked if q in names or q.isidentifier()),
            formulas=None
            if asked is None
            else tuple(q for q in asked if q not in names and not q.isidentifier()),
            options=tuple(options),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of the command after the file."""
        valued = (
            ("--policy", self.policies),
            ("--agent", self.agents),
            ("--replay", self.replays),
            ("--spec", self.specs or ()),
            ("--formula", self.formulas or ()),
            ("--gate", self.harness.gates),
            ("--calls", () if self.harness.calls is None else (self.harness.calls,)),
            ("--domain", () if self.domain is None else (self.domain,)),
        )
        pairs = ((option, value) for option, values in valued for value in values)
        return (*chain.from_iterable(pairs), *self.options)

    def load(self) -> Deployment:
        """Return the deployment in the harness. Raises `InputError`."""
        return in_harness(load(self.file), self.harness)

    @property
    def questions(self) -> list[Question] | None:
        """The requested specifications and formulas, or None for all specifications of the file."""
        if self.specs is None and self.formulas is None:
            return None
        formulas = (parse_formula(text, source="--formula") for text in self.formulas or ())
        return [*(self.specs or ()), *formulas]


def _is_no_policy(who: str) -> bool:
    if who == ANY or ":" in who:
        return True
    from stead_sym.models.catalogue import CATALOGUE  # for this alone, and most requests have no other agent

    return who in CATALOGUE
