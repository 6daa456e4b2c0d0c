"""`.stead` files as tests: one for each specification.

One decision: installing the plugin alone collects nothing. A file becomes tests if the setting `stead_files`
or the command line names it. Many a `.stead` file is an example whose specifications are meant to fail.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_stead.lines import SETTING, Line, parse, read_lines
from pytest_stead.recorded import Recordings
from pytest_stead.runs import Runs, failure, failure_without_bound, fault, tell, tell_scope
from stead_sym.agents.records.answer import recorded_answers
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.cli.agents import chosen_agents, deciding_words
from stead_sym.cli.options import domain
from stead_sym.cli.request import request_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.harness import in_harness
from stead_sym.deployment.language import read_deployment
from stead_sym.errors import InputError, Span, SteadError
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.result import Verification
from stead_sym.verification.verify import verify

RUNS = pytest.StashKey[Runs]()
_LINES = pytest.StashKey[tuple[Line, ...]]()
_MOST_WIDTH = 100


def runs_of(config: pytest.Config) -> Runs:
    """Return the verifications of this session."""
    return config.stash.setdefault(RUNS, Runs())


def width_of(config: pytest.Config) -> int:
    """Return the width at which a run is printed."""
    return min(config.get_terminal_writer().fullwidth, _MOST_WIDTH)


def read_settings(config: pytest.Config) -> None:
    """Read the lines of `stead_files`; `UsageError` for a wrong one."""
    try:
        config.stash[_LINES] = tuple(read_lines(config.rootpath, config.getini(SETTING)))
    except InputError as error:
        raise pytest.UsageError(str(error)) from None


def collector(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a file that is to be tested, None for any other."""
    lines = tuple(line for line in parent.config.stash.get(_LINES, ()) if line.fits(path))
    if not lines and not parent.session.isinitpath(path):
        return None
    file: SteadFile = SteadFile.from_parent(parent, path=path)
    file.lines = lines or (Line(path.parent, path.name, ()),)
    return file


class SteadFile(pytest.File):
    """A deployment, verified once for each of its ``lines``."""

    lines: tuple[Line, ...]

    def collect(self) -> Iterable[pytest.Item]:
        """Yield a test for each specification under each line, or one for a deployment without any."""
        try:
            deployment = read_deployment(os.path.relpath(self.path))
            for line in self.lines:
                yield from self._items(deployment, line)
        except SteadError as error:
            raise self.CollectError(str(error)) from None

    def _items(self, deployment: Deployment, line: Line) -> Iterator[pytest.Item]:
        options = parse(line.words, line.root)
        request = request_of(options)
        deployment = in_harness(deployment, request.harness)
        asking, specs = deployment.asked(request.questions, deciding_words(deployment, options))
        suffix = f"[{line.name}]" if len(self.lines) > 1 else ""
        for spec in specs:
            yield SteadItem.of(self, asking, line, spec.name, suffix, spec.span)
        if not specs:
            yield SteadItem.of(self, asking, line, None, suffix, None)


class SteadItem(pytest.Item):
    """One specification under one line; without a ``spec`` the definition of the deployment alone."""

    deployment: Deployment
    line: Line
    spec: str | None
    span: Span | None

    @classmethod
    def of(
        cls,
        parent: SteadFile,
        deployment: Deployment,
        line: Line,
        spec: str | None,
        suffix: str,
        span: Span | None,
    ) -> SteadItem:
        """Return the test.

        Tests of one file and line go to one worker of xdist if it distributes by group.
        """
        item: SteadItem = cls.from_parent(parent, name=f"{spec or 'definition'}{suffix}")
        item.deployment, item.line, item.spec, item.span = deployment, line, spec, span
        if parent.config.pluginmanager.hasplugin("xdist"):  # the marker is registered by xdist
            item.add_marker(pytest.mark.xdist_group(f"{parent.nodeid} {line.name}"))
        return item

    def runtest(self) -> None:
        """Fail if the verdict is not the expected one, which is `holds` by default.

        Warn of the findings about the specification. The first test of a deployment also warns of those about
        no specification.
        """
        if self.deployment.unbounded:
            self._run_without_bound()
            return
        result = self._verified()
        self.user_properties.append(("stead_agent", result.agent))
        self.user_properties.append(("stead_states", result.states))
        first = self._is_first(result.verdicts)
        findings = [f for f in result.findings if f.spec == self.spec or (f.spec is None and first)]
        refused = tell(findings)
        if result.broken is not None and (self.spec is None or result[self.spec].holds is None):
            broken = result[result.broken.claim]
            text = failure(result, broken, result.broken.span, width_of(self.config), self._command())
            raise SteadFailure(text)
        if self.spec is not None:
            verdict = result[self.spec]
            self.user_properties.append(("stead_verdict", verdict.said))
            if verdict.unexpected:
                raise SteadFailure(
                    failure(result, verdict, self.span, width_of(self.config), self._command())
                )
            refused += tell_scope(verdict, self.span)
        self._refuse(refused, findings)

    def _run_without_bound(self) -> None:
        """Run the test of a file with `bound … any`. A claim that is not shown fails the first test."""
        found = runs_of(self.config)((self.path, self.line), self._deepen)
        self.user_properties.append(("stead_agent", found.agent))
        own = [spec.name for spec in self.deployment.specs if spec.name in found.found]
        asked = [self.spec] if self.spec is not None else []
        if self._is_first(own):
            asked += [name for name in found.found if name not in own]
        findings = [f for f in found.findings if f.spec in asked or (f.spec is None and self._is_first(own))]
        refused = tell(findings)
        for name in asked:
            verdict, place = found[name], self.span if name == self.spec else None
            self.user_properties.append(("stead_verdict", verdict.said))
            if verdict.unexpected:
                width = width_of(self.config)
                raise SteadFailure(failure_without_bound(found, name, place, width, self._command()))
            shown = found.found[name].every_number
            # "for every number" strengthens the verdict; the rest of the scope restricts it
            scope = verdict.scope if shown is None else verdict.scope[1:]
            refused += tell_scope(replace(verdict, scope=scope), place)
        self._refuse(refused, findings)

    def _is_first(self, specs: Iterable[str]) -> bool:
        """Return True if this is the first test of the deployment.

        It reports what is about no specification.
        """
        return self.spec is None or self.spec == next(iter(specs))

    def _refuse(self, refused: list[str], findings: Sequence[Finding]) -> None:
        """Fail if a warning is an error, and if there are findings under `--strict`."""
        if refused:
            raise SteadFailure("\n".join(refused))
        if findings and parse(self.line.words, self.line.root).strict:
            raise SteadFailure("\n".join(["findings, which --strict does not allow", *map(str, findings)]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Return the run, or the line of an error; a bug keeps its stack trace."""
        match excinfo.value:
            case SteadFailure() as failed:
                return str(failed)
            case SteadError() as error:
                return fault(error, width_of(self.config))
            case _:
                return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the line of the specification."""
        return self.path, None if self.span is None else self.span.line - 1, self.name

    def _verified(self) -> Verification:
        return runs_of(self.config)((self.path, self.line), self._verify)

    def _verify(self) -> Verification:
        options = parse(self.line.words, self.line.root)
        recordings = Recordings(self.path.parent, self.path.stem, self.config.option.stead_update)
        recordings.settle(self.deployment, options)
        result = verify(
            self.deployment,
            chosen_agents(self.deployment, options),
            request_of(options).questions,
            domain=domain(options.domain),
            min_mass=options.min_mass,
        )
        recordings.keep({name: run.answers for name, run in result.agents.items()})
        return result

    def _deepen(self) -> Deepening:
        options = parse(self.line.words, self.line.root)
        recordings = Recordings(self.path.parent, self.path.stem, self.config.option.stead_update)
        recordings.settle(self.deployment, options)
        agents = chosen_agents(self.deployment, options)
        found = deepen(self.deployment, agents, request_of(options).questions, limit=options.max_bound)
        recordings.keep(
            {
                name: () if wrapper is None else recorded_answers(wrapper.agent, wrapper.decisions)
                for name, wrapper in found.wrappers.items()
            }
        )
        return found

    def _command(self) -> str:
        """Return the command that verifies the specification again."""
        words = [*self.line.words]
        own = [] if {"--spec", "--formula"} & {*words} or self.spec is None else ["--spec", self.spec]
        return f"again: {shlex.join(['stead-sym', 'verify', os.path.relpath(self.path), *words, *own])}"


class SteadFailure(AssertionError):
    """A specification does not hold; the text is the output of the test."""
