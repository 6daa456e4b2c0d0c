"""Verdicts and findings as SARIF 2.1.0, which GitHub, GitLab and editors show at lines of the file.

One decision: a specification that fails is an `error`, and so is one whose verdict is unknown, since neither
is established. A finding is a `warning`. A specification that holds is no result, unless it holds vacuously
(a `warning`) or has a scope (a `note`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import fsencode
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from stead_sym.errors import DefinitionError, InputError, Span, SteadError
from stead_sym.support.printable import printable

if TYPE_CHECKING:
    from stead_sym.analyses.deepening.result import Deepening
    from stead_sym.evidence.document import Json
    from stead_sym.verification.findings.finding import Finding
    from stead_sym.verification.result import Verification
    from stead_sym.verification.verdict import Verdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MARKER = f'{{\n  "$schema": "{SCHEMA}"'
"""The beginning of a log that is indented by two spaces."""


class _Result(NamedTuple):
    rule: str
    level: str
    text: str
    place: Span | None
    spec: str | None
    steps: tuple[str, ...] = ()
    accepted: str | None = None


def sarif_data(result: Verification | Deepening, version: str) -> dict[str, Json]:
    """Return the log of a verification by stead-sym of that ``version``."""
    results = [
        *(_verdict(verdict, _agent(result), result.place(name)) for name, verdict in result.verdicts.items()),
        *map(_finding, result.findings),
        *(_finding(one.finding)._replace(accepted=one.reason) for one in result.accepted),
    ]
    return _log([one for one in results if one is not None], version)


def sarif_findings(findings: Iterable[Finding], version: str) -> dict[str, Json]:
    """Return the log of findings alone."""
    return _log([_finding(finding) for finding in findings], version)


def sarif_error(error: SteadError, version: str) -> dict[str, Json]:
    """Return the log of a run that ended in an error."""
    return _log([_error(error)], version)


def _agent(result: Verification | Deepening) -> str:
    return f"{result.agent}{result.deployment.harness}"


def _error(error: SteadError) -> _Result:
    place = error.span if isinstance(error, InputError) else None
    text = error.message if isinstance(error, InputError) else str(error)
    steps = tuple(step.label for step in error.trace.steps) if isinstance(error, DefinitionError) else ()
    return _Result(type(error).__name__, "error", text, place, None, steps)


def _verdict(verdict: Verdict, agent: str, place: Span | None) -> _Result | None:
    if verdict.empty:
        return _Result("of-nothing", "warning", f"{verdict} (under {agent})", place, verdict.spec)
    if verdict.holds is False and not verdict.unexpected:
        return None
    if verdict.holds:
        said = f"{verdict} (under {agent})"
        if verdict.unexpected:
            return _Result("unexpected", "error", said, place, verdict.spec)
        return _Result("scope", "note", said, place, verdict.spec) if verdict.scope else None
    trace = verdict.trace
    steps = tuple(step.label for step in trace.steps) if trace else ()
    shown = f": {trace.claim}" if trace else ""
    text = f"{verdict.spec} {verdict.word} under {agent}{f': {verdict.reason}' if verdict.reason else shown}"
    if steps:
        text += f", after {', '.join(steps)}"
    text = "; ".join((text, *verdict.scope))
    return _Result(verdict.word, "error", text, place, verdict.spec, steps)


def _finding(finding: Finding) -> _Result:
    text = f"{finding.text}; {finding.remedy}"
    return _Result(finding.kind.replace(" ", "-"), "warning", text, finding.place, finding.spec)


def _log(results: list[_Result], version: str) -> dict[str, Json]:
    rules = list(dict.fromkeys(result.rule for result in results))
    driver: dict[str, Json] = {
        "name": "stead-sym",
        "semanticVersion": version,
        "rules": [{"id": rule, "shortDescription": {"text": _described(rule)}} for rule in rules],
    }
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "stead-sym/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(result, rules) for result in results],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _described(rule: str) -> str:
    match rule:
        case "fails":
            return "A specification fails: a run refutes it."
        case "unknown":
            return "No verdict on a specification is established."
        case "of-nothing":
            return "A specification holds, of nothing: what it speaks of never happens."
        case "unexpected":
            return "A specification holds that the file expects to fail."
        case "scope":
            return "A specification holds, of what is said with it."
        case _:
            return f"{rule.replace('-', ' ')} (`stead-sym explain {rule}`)"


def _result(result: _Result, rules: list[str]) -> dict[str, Json]:
    data: dict[str, Json] = {
        "ruleId": result.rule,
        "ruleIndex": rules.index(result.rule),
        "level": result.level,
        "message": {"text": printable(result.text)},
        "locations": [{"physicalLocation": _physical(result.place)}] if result.place else [],
        # identifies a result across versions of a file, independent of its line
        "partialFingerprints": {"steadSym/v1": f"{result.rule}/{result.spec or printable(result.text)}"},
    }
    if result.accepted is not None:
        data["suppressions"] = [{"kind": "inSource", "justification": printable(result.accepted)}]
    if result.steps:
        locations: list[Json] = [
            {"location": {"message": {"text": printable(step)}}} for step in result.steps
        ]
        data["codeFlows"] = [{"threadFlows": [{"locations": locations}]}]
    return data


def _physical(place: Span) -> dict[str, Json]:
    path = PurePath(place.source)
    root, parts = ("file:///", path.parts[1:]) if path.is_absolute() else ("", path.parts)
    uri = "/".join(quote(fsencode(part)) for part in parts)
    return {
        "artifactLocation": {"uri": f"{root}{uri}"},
        "region": {"startLine": place.line, "startColumn": place.column},
    }


def annotation_lines(result: Verification | Deepening) -> Iterator[str]:
    """Yield verdicts and findings as lines that a GitHub workflow shows at their places."""
    for name, verdict in result.verdicts.items():
        if one := _verdict(verdict, _agent(result), result.place(name)):
            yield _annotation(one)
    yield from (_annotation(_finding(finding)) for finding in result.findings)


def error_annotation(error: SteadError) -> str:
    """Return the line for a run that ended in an error."""
    return _annotation(_error(error))


def _annotation(result: _Result) -> str:
    place = result.place
    where = f" file={_escaped(place.source)},line={place.line},col={place.column}" if place else ""
    comma = "," if where else " "
    text = printable(result.text).replace("%", "%25")
    level = "notice" if result.level == "note" else result.level
    return f"::{level}{where}{comma}title={_escaped(result.rule)}::{text}"


def _escaped(text: str) -> str:
    """Escape a property of an annotation."""
    for character, escape in (("%", "%25"), (":", "%3A"), (",", "%2C"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(character, escape)
    return text
