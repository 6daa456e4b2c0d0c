"""Differences as pytest tests to keep: each fails as long as file and system differ in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import SkipTest

from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import Comparison, reached
from stead_sym.conformance.found import Conformance, Difference, Walk
from stead_sym.conformance.interleaved import Interleaver
from stead_sym.conformance.printed import difference_text
from stead_sym.conformance.system import CannotLoad, opened
from stead_sym.conformance.walks import Walker
from stead_sym.deployment.files import load
from stead_sym.deployment.semantics import is_possible
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Fact, Instance


def assert_agrees(
    file: str | Path,
    binding: Binding,
    before: Sequence[str],
    call: str | None = None,
    *,
    meanwhile: str | None = None,
    before_step: int = 2,
    after: Sequence[str] = (),
) -> None:
    """Raise `AssertionError` if a file and its system differ on a call in a state.

    The state is given by its facts. With ``meanwhile`` this call runs before a step of the first. With
    ``after`` these calls come before it, one after the other, without loading the database between them.
    Without a call the system has to load the state.

    Raise `SkipTest`, which pytest counts as skipped, if the file no longer reaches the state.
    """
    deployment = load(file)
    alone = deployment.one_by_one()
    with opened(alone, binding, concurrent=meanwhile is not None) as system:
        there = reached(alone)
        deployment = there.deployment
        state = Instance.of(deployment.schema, [Fact(*_named(fact)) for fact in before])
        if canonical_form(state, deployment.all_constants).instance not in there.forms:
            raise SkipTest(f"{file} does not reach this state any more")
        comparison = Comparison(deployment, binding, system, there.restriction)
        try:
            comparison.load(state)
        except CannotLoad as error:
            raise AssertionError(f"the database refuses a reachable state: {error}") from None
        if call is None:
            return
        found: Difference | int | bool | None
        made = Call(*_named(call))
        if after:
            walk = Walk(state, tuple(Call(*_named(one)) for one in (*after, call)))
            found = Walker(deployment, binding, system, (state,)).replayed(walk)
        elif meanwhile is None:
            tool = deployment.tool(made.tool)
            found = comparison.compare(tool, made, state, is_possible(deployment, made, state))
        else:
            interleaver = Interleaver(deployment, system, there.restriction)
            found = interleaver.compare(state, made, Call(*_named(meanwhile)), before_step)
    if isinstance(found, Difference):
        raise AssertionError(difference_text(found))


def _named(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the arguments of a fact or a call."""
    found = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text)
    if found is None:
        raise InputError(f"{text!r} is no fact and no call; write NAME(VALUE, …)")
    return found[1], tuple(part.strip() for part in found[2].split(",") if part.strip())


def tests_of(found: Conformance, file: str, binding: str) -> str:
    """Return a module with a test for each difference.

    ``file`` is an expression for the file, and ``binding`` is MODULE or MODULE:NAME.
    """
    module, _, name = binding.partition(":")
    imported = "binding" if name in ("", "binding") else f"{name} as binding"
    lines = [
        '"""Differences between a deployment and its system, each a test that fails while it is there.',
        "",
        "Written by `stead-sym conform --test`. Keep the tests when they pass.",
        '"""',
        "",
        "from pathlib import Path",
        "",
        f"from {module} import {imported}",
        "from stead_sym.conformance.kept import assert_agrees",
        "",
        f"FILE = {file}",
    ]
    for difference in found.differences:
        lines += _test(difference)
    for number, (reason, state) in enumerate(found.unloaded.items(), 1):
        lines += ["", "", f"def test_a_state_can_be_loaded_{number}():", f"    # {reason}"]
        lines += _assertion(state, [])
    return "\n".join(lines) + "\n"


def _test(difference: Difference) -> Iterator[str]:
    names = [difference.call.tool]
    arguments = [f"        call={str(difference.call)!r},"]
    before = difference.before
    if difference.walk is not None:
        before = difference.walk.start
        earlier = [f"            {str(one)!r}," for one in difference.walk.calls[:-1]]
        arguments += ["        after=[", *earlier, "        ],"] if earlier else []
    if difference.meanwhile is not None:
        names += ["and", difference.meanwhile.call.tool]
        arguments += [
            f"        meanwhile={str(difference.meanwhile.call)!r},",
            f"        before_step={difference.meanwhile.before_step},",
        ]
    yield from ("", "", f"def test_{'_'.join([*names, *difference.kind.split()])}():")
    yield from _assertion(before, arguments)


def _assertion(state: Instance, arguments: Sequence[str]) -> Iterator[str]:
    facts = [f"            {str(fact)!r}," for fact in sorted(state.facts)]
    before = ["        before=[", *facts, "        ],"] if facts else ["        before=[],"]
    yield from ("    assert_agrees(", "        FILE,", "        binding,", *before, *arguments, "    )")
