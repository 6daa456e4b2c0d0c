"""Count the generated specifications that are unknown for every number of records, by reason.

    PYTHONPATH=tests python benchmarks/unknown.py [--specifications N] [--from SEED] [--seconds S]

Takes deployments of `generated.records`, `generated.crowds` and `generated.offices`, and of these the
specifications within the fragment that `docs/theory.md` documents: a first-order sentence that is always
true, that asks for no record, and whose negation rests on a number of records; guards, conditions and
statements that rest on a number of records, too.

Of a specification that is unknown, runs over more records than bounds were raised to are searched
(`few_records`). If one of them refutes it, no proof can be expected, and it is counted apart. So is one for
which the time or another limit is over. Prints the verdicts, and the reasons of those that are unknown with
names and numbers left out, the most common one first.
"""

from __future__ import annotations

import argparse
import itertools
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import stead_sym as st
from few_records import FewRecords
from generated import crowds, offices, records
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.shown import always
from stead_sym.analyses.views.steps import looks
from stead_sym.errors import NoInitialState, SteadError, Undecided

GENERATORS = {"records": records.text, "crowds": crowds.text, "offices": offices.text}
LIMIT = 3
"""Bounds are raised so far, to find what fails."""

MOST, BUDGET = 6, 6_000
"""The number of records, and the work, with which a run is searched that refutes what is unknown."""

BEYOND, STOPPED = "fails beyond", "stopped"


@dataclass(frozen=True)
class Asked:
    """The verdict on a specification of the deployment that a seed gives, and why it is unknown if it is.

    The ``word`` of one that is unknown is `BEYOND` if a run over more records refutes it, and `STOPPED` if a
    limit of time or memory ended the search.
    """

    generator: str
    seed: int
    spec: str
    word: str
    reason: str
    seconds: float


def within_fragment(deployment: st.Deployment) -> tuple[str, ...]:
    """Return the specifications within the documented fragment."""
    if any(look.outside for look in looks(deployment, 1)):
        return ()
    needs, found = Needs(deployment), []
    for spec in deployment.specs:
        sentences = None if spec.helps else always(spec.formula)
        try:
            if sentences and not any(needs.kept(f).total() for f in sentences):
                _ = [needs.refuted(f) for f in sentences]
                found.append(spec.name)
        except Outside:
            pass
    return tuple(found)


def asked(generator: str, seed: int, seconds: float) -> Iterator[Asked]:
    """Ask the specifications of one deployment, in so many seconds of the processor."""
    deployment = st.parse_deployment(GENERATORS[generator](seed))
    names = within_fragment(deployment)
    if not names:
        return
    started = time.process_time()

    def limited(_: str, /, **__: object) -> None:
        if time.process_time() - started > seconds:
            raise Undecided("unknown: the time is over")

    found = {}
    try:
        found = dict(deepen(deployment, specs=names, limit=LIMIT, findings=False, progress=limited).verdicts)
        said = ""
    except Undecided as error:
        said = str(error)
    except MemoryError:
        said = "memory"
    except SteadError:
        return  # no initial state, or a claim that the generator did not keep
    spent = time.process_time() - started
    unknown = [name for name in names if name not in found or found[name].holds is None]
    refuted = _refuted_beyond(deployment, unknown, seed)
    for name in names:
        word, reason = (found[name].word, found[name].reason) if name in found else ("unknown", said)
        if name in refuted:
            word = BEYOND
        elif word == "unknown" and _is_stopped(reason):
            word = STOPPED
        yield Asked(generator, seed, name, word, reason, spent)


def _is_stopped(reason: str) -> bool:
    """Return whether time or memory ended the search, not a limit of what parts on a few records show."""
    return any(said in reason for said in ("the time is over", "operations on diagrams", "memory"))


def _refuted_beyond(deployment: st.Deployment, names: Iterable[str], seed: int) -> frozenset[str]:
    """Return the specifications that some run over a few more records refutes."""
    asked = {name: always(deployment.spec(name).formula) or () for name in names}
    if not asked:
        return frozenset()
    free = replace(deployment, unbounded=deployment.unbounded or frozenset(deployment.bounds), text=None)
    try:
        runs = FewRecords(free, None, MOST, BUDGET, seed)
    except NoInitialState:
        return frozenset()
    return frozenset(name for name, sentences in asked.items() if runs.violates(sentences) is not None)


def kind(reason: str) -> str:
    """Return the first of what a reason says, without what belongs to one deployment."""
    said = reason.partition("for every number: ")[2] or reason
    first = re.sub(r"\([\w<>:.]+:\d+\)|`[^`]*`|\{[^}]*\}", "…", said.partition("; ")[0])
    first = re.sub(r"(?<=a step of )\w+|^[\w ]+(?= is not shown by)", "…", first)
    left_out = ", conditions being left out" if " is taken without " in said else ""
    return re.sub(r"\d[\d,]*", "N", first) + left_out


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--specifications", type=int, default=200)
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="SEED")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the processor, per deployment")
    parser.add_argument("--each", action="store_true", help="print each unknown specification")
    options = parser.parse_args()
    words, reasons, number = Counter[tuple[str, str]](), Counter[str](), 0
    for seed, generator in ((n, one) for n in itertools.count(options.first) for one in GENERATORS):
        if options.each:
            print(f"{generator} {seed}", flush=True)
        for one in asked(generator, seed, options.seconds):
            number += 1
            words[generator, one.word] += 1
            if one.word in ("unknown", STOPPED):
                reasons[kind(one.reason)] += 1
            if options.each and one.word not in ("holds", "fails"):
                print(
                    f"{generator} {seed} {one.spec} {one.word}: {one.reason} ({one.seconds:.1f} s)",
                    flush=True,
                )
        if number >= options.specifications:
            break
    print(f"| generator | holds | fails | fails, over {LIMIT + 1} … {MOST} records | stopped | unknown |")
    print("| --- | --- | --- | --- | --- | --- |")
    for generator in GENERATORS:
        row = [str(words[generator, word]) for word in ("holds", "fails", BEYOND, STOPPED, "unknown")]
        print(f"| `{generator}` | {' | '.join(row)} |")
    unknown = reasons.total()
    print(f"\n{unknown} of {number} are unknown ({100 * unknown / number:.1f} %), up to seed {seed}\n")
    print("| reason | specifications |")
    print("| --- | --- |")
    for reason, count in reasons.most_common():
        print(f"| {reason} | {count} |")


if __name__ == "__main__":
    main()
