"""Certificates with one thing altered.

    python tests/altered.py                # 100 generated deployments of each kind, in both modes
    python tests/altered.py --number 1000 mortality

Each alteration changes one thing of a valid certificate: a verdict, a member of a set, a ring, a decision, a
name. The check may only accept what still proves the same verdicts. Printed is, per alteration, how often it
was rejected, refused as no certificate, or accepted. The exit status is 1 where a verdict that is not the
true one is accepted, or an alteration that leaves nothing of the proof. Not part of the gate;
`tests/certificate/test_alterations.py` takes fewer.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from certified import DOMAINS, KINDS, PROFILES, given_agents, solved
from stead_sym.certificate.checker.check import check_certificate
from stead_sym.certificate.diagrams import FALSE, TRUE, Diagrams, Table, read_diagrams, write_diagrams
from stead_sym.certificate.document import DIAGRAMS, DOCUMENT
from stead_sym.certificate.files import read_json
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.certificate.write import uncertifiable, write_certificate
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.errors import InputError, SteadError

NEVER_VALID = {
    "a verdict is flipped",
    "all verdicts are flipped",
    "a reachable state is left out of R",
    "D0 is left out of R",
    "a decision is dropped",
    "nothing is selected",
    "a run loses its start",
    "a run loses its end",
    "the bounds of a formula are dropped",
    "the name of a claim is another's",
    "the formula of a claim is another's",
    "the name of a claim has an unseen character",
    "the formula of a claim has an unseen character",
}
"""The alterations that no certificate survives."""

UNSEEN = ("\u200b", "\u200d", "\u00ad", "\u0301", "\u202e", "\ufeff", "\x00", "\x1b[2J")
"""Texts that a reader may not see: they are of no width, combine with what is before, or move a cursor."""


class Altering:
    """The alterations of the certificate in a directory, each as the two files that it makes."""

    def __init__(self, directory: Path, choose: random.Random) -> None:
        self.data = read_json(directory / DOCUMENT)
        self.diagrams = read_json(directory / DIAGRAMS)
        self.choose = choose
        names = list(self.diagrams["level_of_var"])
        self.read = read_diagrams(self.diagrams, "diagrams", names)
        self.manager = Manager()
        self.manager.declare_bottom(self.read.order)
        self.sets = self.read.build(self.manager)

    def __iter__(self) -> Iterator[tuple[str, object, object]]:
        for name, data in self._documents():
            yield name, data, self.diagrams
        for name, number, function in self._sets():
            yield name, self.data, self._with(number, function)

    # the document

    def _documents(self) -> Iterator[tuple[str, object]]:
        other = {"holds": "fails", "fails": "holds"}
        if self.data["specs"]:
            data = copy.deepcopy(self.data)
            for spec in data["specs"]:
                spec["verdict"] = other[spec["verdict"]]
            yield "all verdicts are flipped", data
        for number, spec in enumerate(self.data["specs"]):
            data = copy.deepcopy(self.data)
            data["specs"][number]["verdict"] = other[spec["verdict"]]
            yield "a verdict is flipped", data
            if spec["bounds"]:
                data = copy.deepcopy(self.data)
                data["specs"][number]["bounds"] = {}
                yield "the bounds of a formula are dropped", data
            yield from self._bounds(number)
            yield from self._runs(number)
        yield from self._claims()
        yield from self._decisions()
        yield from self._names()
        for part in ("facts", "static"):
            if self.data[part]:
                data = copy.deepcopy(self.data)
                data[part].pop(self.choose.randrange(len(data[part])))
                yield f"one of the {part} is dropped", data
        if self.data["facts"]:
            data = copy.deepcopy(self.data)
            data["static"].append(data["facts"].pop(self.choose.randrange(len(data["facts"]))))
            yield "a fact is said to be static", data
        data = copy.deepcopy(self.data)
        data["mode"] = {"normal": "theorem", "theorem": "normal"}[data["mode"]]
        yield "the mode is flipped", data

    def _claims(self) -> Iterator[tuple[str, object]]:
        """Return what a claim is said to be about."""
        for number, spec in enumerate(self.data["specs"]):
            others = [other for other in self.data["specs"] if other["formula"] != spec["formula"]]
            for key in ("name", "formula") if others else ():
                data = copy.deepcopy(self.data)
                data["specs"][number][key] = self.choose.choice(others)[key]
                yield f"the {key} of a claim is another's", data
            for key in ("name", "formula"):
                data = copy.deepcopy(self.data)
                at = self.choose.randrange(len(spec[key]) + 1)
                unseen = self.choose.choice(UNSEEN)
                data["specs"][number][key] = spec[key][:at] + unseen + spec[key][at:]
                yield f"the {key} of a claim has an unseen character", data

    def _bounds(self, number: int) -> Iterator[tuple[str, object]]:
        roots = len(self.sets)
        for address, bound in self.data["specs"][number]["bounds"].items():

            def changed(new: object, address: str = address) -> object:
                data = copy.deepcopy(self.data)
                data["specs"][number]["bounds"][address] = new
                return data

            match bound:
                case {"kind": "rings", "rings": [first, *rest]}:
                    yield "a ring is dropped", changed({**bound, "rings": rest})
                    yield "rings are shifted", changed({**bound, "rings": [*rest, first]})
                case {"kind": "closed" | "staying"}:
                    another = self.choose.randrange(roots)
                    yield "another set is given", changed({**bound, "closed": another})
                case {"kind": "leaving", "steps": [first, *rest]}:
                    yield "a leaving set is dropped", changed({**bound, "steps": rest})
                    twice = {**first, "set": self.data["reached"]}
                    yield "everything leaves", changed({**bound, "steps": [twice, *rest]})

    def _runs(self, number: int) -> Iterator[tuple[str, object]]:
        proof = self.data["specs"][number]["proof"]
        if proof["rule"] == "run":
            for what, keep in (("start", slice(1, None)), ("end", slice(None, -1))):
                if len(proof["states"]) > 1:
                    data = copy.deepcopy(self.data)
                    data["specs"][number]["proof"]["states"] = proof["states"][keep]
                    yield f"a run loses its {what}", data
            state = self.choose.randrange(len(proof["states"]))
            if proof["states"][state]:
                data = copy.deepcopy(self.data)
                data["specs"][number]["proof"]["states"][state].pop()
                yield "a state of a run loses a fact", data

    def _decisions(self) -> Iterator[tuple[str, object]]:
        for number, agent in enumerate(self.data["agents"]):
            if not agent["contexts"]:
                continue
            at = self.choose.randrange(len(agent["contexts"]))
            context = agent["contexts"][at]

            def changed(number: int = number, at: int = at) -> tuple[object, dict]:
                data = copy.deepcopy(self.data)
                return data, data["agents"][number]["contexts"][at]

            data, _ = changed()
            del data["agents"][number]["contexts"][at]
            yield "a decision is dropped", data
            data, entry = changed()
            entry["selected"] = []
            yield "nothing is selected", data
            others = [call for call in context["offered"] if call not in context["selected"]]
            if others:
                data, entry = changed()
                entry["selected"] = [self.choose.choice(others)]
                yield "another call is selected", data
                data, entry = changed()
                entry["selected"].append(self.choose.choice(others))
                yield "one more call is selected", data
            if context["shown"]:
                data, entry = changed()
                entry["shown"].pop()
                yield "a context shows less", data

    def _names(self) -> Iterator[tuple[str, object]]:
        for number, named in enumerate(self.data["names"]):
            if len(named["names"]) > 1:
                data = copy.deepcopy(self.data)
                first, second, *_ = named["names"]
                data["names"][number]["names"][first] = named["names"][second]
                yield "a fresh name is another's", data
            data = copy.deepcopy(self.data)
            del data["names"][number]
            yield "a fresh name is dropped", data
        for sort, values in self.data["domain"].items():
            last = values[-1] if values else None
            data = copy.deepcopy(self.data)
            if last is not None:
                data["domain"][sort] = values[:-1]
                for part in ("facts", "static"):
                    data[part] = [fact for fact in data[part] if last not in fact[1]]
                yield "a domain is smaller", data

    # the sets

    def _sets(self) -> Iterator[tuple[str, int, object]]:
        m = self.manager
        reached, order = self.data["reached"], self.read.order
        bits = [bit for bit in order if "#" not in bit]
        states = self.sets[reached]
        yield "a reachable state is left out of R", reached, states & ~m.cube(self._member(states, bits))
        yield "D0 is left out of R", reached, states & ~m.cube(self._start(bits))
        if states != m.true and (outside := ~states) != m.false:
            yield "another state is put into R", reached, states | m.cube(self._member(outside, bits))
        for _ in range(4):
            number = self.choose.randrange(len(self.sets))
            function = self.sets[number]
            if number in (reached, self.data["within"]):
                continue
            if (inside := function & states) != m.false:
                member = m.cube(self._member(inside, order))
                yield "a member of a set is left out", number, function & ~member
            if (outside := states & ~function) != m.false:
                yield "a member is put into a set", number, function | m.cube(self._member(outside, order))

    def _start(self, bits: list[str]) -> dict[str, bool]:
        """D0; a member of R where there are several."""
        from stead_sym.deployment.language import parse_deployment

        deployment = parse_deployment(self.data["deployment"]["text"])
        facts = {str(fact) for fact in deployment.init}
        code = {bit: bit in facts for bit in bits}
        states = self.sets[self.data["reached"]]
        return code if self.manager.satisfies(states, code) else self._member(states, bits)

    def _member(self, function, bits) -> dict[str, bool]:
        path = self.manager.path(function)
        return {bit: path.get(bit, self.choose.random() < 0.5 if "#" in bit else False) for bit in bits}

    def _with(self, number: int, function) -> object:
        """The diagrams with another function in place of one."""
        functions = [*self.sets[:number], function, *self.sets[number + 1 :]]
        table = Table()
        roots = tuple(self._node(f, table, {}) for f in functions)
        with tempfile.TemporaryDirectory() as folder:
            write_diagrams(Path(folder) / DIAGRAMS, Diagrams(self.read.order, table.nodes, roots))
            return read_json(Path(folder) / DIAGRAMS)

    def _node(self, function, table: Table, known: dict) -> int:
        m = self.manager
        if function in (m.true, m.false):
            return TRUE if function == m.true else FALSE
        if function not in known:
            low, high = m.branches(function)
            known[function] = table.node(
                function.level, self._node(low, table, known), self._node(high, table, known)
            )
        return known[function]


def verdict_words(data) -> dict[str, str]:
    return {spec["name"]: spec["verdict"] for spec in data["specs"]}


def checked(directory: Path) -> SteadError | None:
    """The line that the check ends in, None where it accepts."""
    try:
        check_certificate(directory)
    except (CertificateRejected, InputError) as error:
        if "\n" in str(error):
            raise AssertionError(f"more than a line: {error}") from None
        return error.with_traceback(None)  # whose frames would keep it in a cycle
    return None


def outcome(original, data, diagrams, directory: Path) -> str:
    """Return what the check says of altered files."""
    (directory / DOCUMENT).write_text(json.dumps(data), encoding="utf-8")
    (directory / DIAGRAMS).write_text(json.dumps(diagrams), encoding="utf-8")
    if (refusal := checked(directory)) is not None:
        return "rejected" if isinstance(refusal, CertificateRejected) else "refused"
    return "accepted" if verdict_words(data) == verdict_words(original) else "ACCEPTED, FALSE"


def outcomes(profile: str, number: int, start: int = 0, most: int = 1000) -> Counter[tuple[str, str]]:
    """The outcomes of the alterations of certificates of generated deployments, at most so many each."""
    found: Counter[tuple[str, str]] = Counter()
    choose = random.Random(start)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:

        @seed(start)
        @settings(
            max_examples=number,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(PROFILES[profile], KINDS)
        def run(deployment, kinds):
            for domain in DOMAINS:
                result = solved(deployment, given_agents(deployment, kinds), domain)
                if result is None or uncertifiable(result):
                    continue
                directory = write_certificate(result, first)
                original = read_json(directory / DOCUMENT)
                altered = list(Altering(directory, choose))
                for name, data, diagrams in choose.sample(altered, min(most, len(altered))):
                    word = outcome(original, data, diagrams, Path(second))
                    found[name, word] += 1
                    if word.isupper() or (word == "accepted" and name in NEVER_VALID):
                        print(f"{word}: {name}, {domain}, {kinds}\n{deployment}", file=sys.stderr)

        run()
    return found


def is_wrong(name: str, word: str) -> bool:
    """The check has accepted what it must not."""
    return word == "ACCEPTED, FALSE" or (word == "accepted" and name in NEVER_VALID)


def main(profiles: list[str], number: int, start: int) -> int:
    total: Counter[tuple[str, str]] = Counter()
    for profile in profiles or PROFILES:
        total += outcomes(profile, number, start)
    for (name, word), count in sorted(total.items()):
        print(f"{name}: {word} {count}{'  WRONG' * is_wrong(name, word)}")
    words = Counter()
    for (_, word), count in total.items():
        words[word] += count
    print("all", dict(words))
    return int(any(is_wrong(*key) for key in total))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profiles", nargs="*", choices=[*PROFILES, []])
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.exit(main(options.profiles, options.number, options.seed))
