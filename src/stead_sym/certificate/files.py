"""A certificate on disk: the directory with `certificate.json` and `diagrams.json`.

One decision: what is read is looked at piece by piece before anything is made of it. Whatever the files
hold, the result is a `Certificate` or an `InputError` of one line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, assert_never

from stead_sym.certificate.document import (
    DIAGRAMS,
    DOCUMENT,
    FORMAT,
    AgentTable,
    Bound,
    Bounds,
    Certificate,
    Claim,
    Closed,
    Each,
    Entry,
    Everywhere,
    Initially,
    Leave,
    Leaving,
    Named,
    One,
    Proof,
    Rings,
    Run,
    Staying,
    short,
)
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.instance import Fact

_T = TypeVar("_T")
_DEEPEST = 300
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can write half a character, UTF-8 cannot


def read_json(path: Path) -> object:
    """What a JSON file holds; `InputError` where it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_object)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give the directory of a certificate"
        ) from None
    except (ValueError, RecursionError) as error:
        what = " ".join(str(error).split())[:120]
        raise InputError(
            f"{path}: no JSON ({what}); the file is damaged, write the certificate again"
        ) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON; `ValueError` for a key that is there twice, of which every reader takes another."""
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {short(next(k for k in keys if keys.count(k) > 1))} is there twice")
    return data


def digest(text: str) -> str:
    """The SHA-256 digest of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# writing


def write_document(directory: Path, certificate: Certificate) -> None:
    """Write `certificate.json`."""
    text = json.dumps(document_data(certificate), indent=1)
    (directory / DOCUMENT).write_text(text + "\n", encoding="utf-8")


def document_data(certificate: Certificate) -> dict[str, Any]:
    """A certificate as JSON data."""
    c = certificate
    return {
        "format": FORMAT,
        "package": c.package,
        "deployment": {"name": c.deployment, "text": c.text, "sha256": digest(c.text)},
        "mode": c.mode,
        "domain": {sort: list(values) for sort, values in c.domain.items()},
        "names": [
            {
                "tool": n.tool,
                "alternative": n.alternative,
                "variable": n.variable,
                "after": n.after,
                "names": dict(n.names),
            }
            for n in c.named
        ],
        "static": _pairs(c.static),
        "facts": _pairs(c.facts),
        "order": list(c.order),
        "agents": [
            {
                "name": a.name,
                "policy": a.policy,
                "known": dict(a.known),
                "contexts": None
                if a.entries is None
                else [
                    {"shown": _pairs(e.shown), "offered": _pairs(e.offered), "selected": _pairs(e.selected)}
                    for e in a.entries
                ],
            }
            for a in c.agents
        ],
        "reached": c.reached,
        "within": c.within,
        "fair": _bounds(c.fair),
        "specs": [
            {
                "name": claim.spec,
                "formula": claim.formula,
                "verdict": claim.verdict,
                "proof": _proof(claim.proof),
                "bounds": _bounds(claim.bounds),
            }
            for claim in c.claims
        ],
    }


def _pairs(items: Iterable[Fact | Call]) -> list[Any]:
    return [[name, list(args)] for name, args in items]


def _bounds(bounds: Bounds) -> dict[str, Any]:
    return {address: _bound(bound) for address, bound in bounds.items()}


def _bound(bound: Bound) -> dict[str, Any]:
    match bound:
        case Rings(rings):
            return {"rings": list(rings)}
        case Closed(closed):
            return {"closed": closed}
        case Staying(closed, visits):
            return {"staying": closed, "visits": [list(rings) for rings in visits]}
        case Leaving(steps):
            return {
                "leaving": [{"set": s.leaving, "constraint": s.constraint, "closed": s.closed} for s in steps]
            }
        case _:
            assert_never(bound)


def _proof(proof: Proof) -> dict[str, Any]:
    match proof:
        case Initially():
            return {"rule": "initially"}
        case Everywhere():
            return {"rule": "everywhere"}
        case Run(states):
            return {"rule": "run", "states": [_pairs(state) for state in states]}
        case Each(parts):
            return {"rule": "each", "parts": [_proof(part) for part in parts]}
        case One(part, inner):
            return {"rule": "one", "part": part, "proof": _proof(inner)}
        case _:
            assert_never(proof)


# reading


def read_document(directory: Path) -> Certificate:
    """Read `certificate.json`; `InputError` for anything that is no certificate."""
    path = directory / DOCUMENT
    return _Reader(str(path)).certificate(read_json(path))


def read_diagram_data(directory: Path) -> tuple[object, str]:
    """What `diagrams.json` holds, and the name of the file."""
    path = directory / DIAGRAMS
    return read_json(path), str(path)


class _Reader:
    """Reads JSON data piece by piece."""

    def __init__(self, source: str) -> None:
        self.source = source

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self.source}: {what}; the file is damaged, write the certificate again")

    def part(self, data: object, name: str) -> object:
        if not isinstance(data, dict) or name not in data:
            raise self.wrong(f"`{name}` is missing")
        return data[name]

    def text(self, data: object) -> str:
        if not isinstance(data, str) or _SURROGATE.search(data):
            raise self.wrong(f"{short(data)} should be a text")
        return data

    def number(self, data: object) -> int:
        if type(data) is not int or not 0 <= data < 1 << 31:
            raise self.wrong(f"{short(data)} should be a number")
        return data

    def items(self, data: object, read: Callable[[object], _T]) -> tuple[_T, ...]:
        if not isinstance(data, list):
            raise self.wrong(f"{short(data)} should be a list")
        return tuple(map(read, data))

    def mapping(self, data: object, read: Callable[[object], _T]) -> Mapping[str, _T]:
        if not isinstance(data, dict):
            raise self.wrong(f"{short(data)} should be an object")
        return {name: read(item) for name, item in data.items()}

    def pair(self, data: object) -> tuple[str, tuple[str, ...]]:
        if not isinstance(data, list) or len(data) != 2:
            raise self.wrong(f"{short(data)} should be `[name, [values]]`")
        return self.text(data[0]), self.items(data[1], self.text)

    def fact(self, data: object) -> Fact:
        return Fact(*self.pair(data))

    def call(self, data: object) -> Call:
        return Call(*self.pair(data))

    def facts(self, data: object) -> tuple[Fact, ...]:
        return self.items(data, self.fact)

    def calls(self, data: object) -> tuple[Call, ...]:
        return self.items(data, self.call)

    def certificate(self, data: object) -> Certificate:
        if (form := self.text(self.part(data, "format"))) != FORMAT:
            raise InputError(f"{self.source}: the format is {form[:60]!r}; this version reads {FORMAT!r}")
        of = self.part(data, "deployment")
        text = self.text(self.part(of, "text"))
        if self.text(self.part(of, "sha256")) != digest(text):
            raise self.wrong("the digest is not that of the deployment's text")
        mode = self.text(self.part(data, "mode"))
        if mode not in ("normal", "theorem"):
            raise self.wrong(f"there is no mode {mode[:40]!r}")
        return Certificate(
            package=self.text(self.part(data, "package")),
            deployment=self.text(self.part(of, "name")),
            text=text,
            mode="normal" if mode == "normal" else "theorem",
            domain=self.mapping(self.part(data, "domain"), lambda values: self.items(values, self.text)),
            named=self.items(self.part(data, "names"), self.named),
            static=self.facts(self.part(data, "static")),
            facts=self.facts(self.part(data, "facts")),
            order=self.items(self.part(data, "order"), self.text),
            agents=self.items(self.part(data, "agents"), self.agent),
            reached=self.number(self.part(data, "reached")),
            within=self.number(self.part(data, "within")),
            fair=self.bounds(self.part(data, "fair")),
            claims=self.items(self.part(data, "specs"), self.claim),
        )

    def named(self, data: object) -> Named:
        return Named(
            self.text(self.part(data, "tool")),
            self.number(self.part(data, "alternative")),
            self.text(self.part(data, "variable")),
            self.text(self.part(data, "after")),
            self.mapping(self.part(data, "names"), self.text),
        )

    def agent(self, data: object) -> AgentTable:
        policy, contexts = self.part(data, "policy"), self.part(data, "contexts")
        return AgentTable(
            self.text(self.part(data, "name")),
            None if policy is None else self.text(policy),
            self.mapping(self.part(data, "known"), self.text),
            None if contexts is None else self.items(contexts, self.entry),
        )

    def entry(self, data: object) -> Entry:
        return Entry(
            self.facts(self.part(data, "shown")),
            self.calls(self.part(data, "offered")),
            self.calls(self.part(data, "selected")),
        )

    def claim(self, data: object) -> Claim:
        verdict = self.text(self.part(data, "verdict"))
        if verdict not in ("holds", "fails"):
            raise self.wrong(f"there is no verdict {verdict[:40]!r}")
        return Claim(
            self.text(self.part(data, "name")),
            self.text(self.part(data, "formula")),
            "holds" if verdict == "holds" else "fails",
            self.proof(self.part(data, "proof")),
            self.bounds(self.part(data, "bounds")),
        )

    def proof(self, data: object, depth: int = 0) -> Proof:
        if depth > _DEEPEST:
            raise self.wrong("a proof is nested too deep")
        match self.part(data, "rule"):
            case "initially":
                return Initially()
            case "everywhere":
                return Everywhere()
            case "run":
                return Run(self.items(self.part(data, "states"), self.facts))
            case "each":
                return Each(self.items(self.part(data, "parts"), lambda part: self.proof(part, depth + 1)))
            case "one":
                inner = self.proof(self.part(data, "proof"), depth + 1)
                return One(self.number(self.part(data, "part")), inner)
            case other:
                raise self.wrong(f"there is no rule {short(other)}")

    def bounds(self, data: object) -> Bounds:
        return self.mapping(data, self.bound)

    def bound(self, data: object) -> Bound:
        if not isinstance(data, dict):
            raise self.wrong(f"{short(data)} should be an object")
        if "rings" in data:
            return Rings(self.items(data["rings"], self.number))
        if "closed" in data:
            return Closed(self.number(data["closed"]))
        if "staying" in data:
            visits = self.part(data, "visits")
            rings = self.items(visits, lambda rings: self.items(rings, self.number))
            return Staying(self.number(data["staying"]), rings)
        if "leaving" in data:
            return Leaving(self.items(data["leaving"], self.leave))
        raise self.wrong("a bound is of no known kind")

    def leave(self, data: object) -> Leave:
        constraint, closed = self.part(data, "constraint"), self.part(data, "closed")
        return Leave(
            self.number(self.part(data, "set")),
            None if constraint is None else self.number(constraint),
            None if closed is None else self.number(closed),
        )
