"""`stead-sym decisions`: list, show and export what models have decided.

One decision: every row that is read is checked before it is used; a damaged one is an error, and never
part of an export.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from stead_sym.agent.models.backends import open_store
from stead_sym.agent.records.answer import Answer
from stead_sym.agent.records.replay import export_lines
from stead_sym.agent.records.store import Store
from stead_sym.errors import StoreError
from stead_sym.printable import printable, printable_lines

_SHOWN = 12  # digits of a key in a list


def add_decisions(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `decisions`."""
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="one line per decision: key, time, margin, model, calls")
    listing.set_defaults(run=_list)
    show = actions.add_parser("show", help="one decision with its prompt and its branchings")
    show.set_defaults(run=_show)
    show.add_argument("key", metavar="KEY", help="the key of a decision, or how it begins")
    export = actions.add_parser("export", help="print decisions as JSON Lines, for verify --replay")
    export.set_defaults(run=_export)
    for action in (listing, export):
        action.add_argument(
            "--agent", metavar="NAME", help="only the decisions of this model, such as hf:DIR"
        )
    for action in (listing, show, export):
        action.add_argument("--store", metavar="FILE", help="the store of decisions (default: your own)")


def _list(options: argparse.Namespace) -> int:
    with open_store(options.store, create=False) as store:
        for answer in _chosen(store, options.agent):
            calls = ", ".join(map(str, sorted(answer.selected)))
            margin = margin_text(answer)
            print(printable(f"{answer.key[:_SHOWN]}  {answer.time}  {margin:>8}  {_model(answer)}  {calls}"))
    return 0


def _show(options: argparse.Namespace) -> int:
    with open_store(options.store, create=False) as store:
        found = [answer for answer in _chosen(store, None) if answer.key.startswith(options.key)]
        if len(found) != 1:
            raise StoreError(
                f"{store.name}: {len(found)} decisions have a key that begins with {options.key};"
                " `stead-sym decisions list` has the keys"
            )
        print("\n".join(map(printable_lines, _lines(found[0]))))
    return 0


def _export(options: argparse.Namespace) -> int:
    with open_store(options.store, create=False) as store:
        for line in export_lines(_chosen(store, options.agent)):
            print(line)
    return 0


def _chosen(store: Store, model: str | None) -> Iterator[Answer]:
    return (answer for _, answer in store.answers() if model in (None, _model(answer)))


def _model(answer: Answer) -> str:
    return answer.model.get("name", "?")


def margin_text(answer: Answer) -> str:
    """The margin of a decision; `forced` where the model had no choice."""
    return "forced" if answer.margin is None else f"{answer.margin:.6f}"


def _lines(answer: Answer) -> Iterator[str]:
    yield f"key        {answer.key}"
    yield f"time       {answer.time}"
    for name, value in sorted(answer.model.items()):
        yield f"{name:10} {value}"
    yield "versions   " + ", ".join(f"{name} {version}" for name, version in sorted(answer.versions.items()))
    yield f"tolerance  {answer.tolerance:g}"
    yield f"margin     {margin_text(answer)}"
    for offered in answer.calls:
        mark = "*" if offered.call in answer.selected else " "
        yield f"{mark} {offered.call}  {offered.text}"
    for branching in answer.branchings:
        said = ", ".join(f"{t}: {p:.6f}" for t, p in zip(branching.allowed, branching.logprobs, strict=True))
        yield f"after {len(branching.path)} tokens  {said}  (margin {branching.margin:.6f})"
    for message in answer.prompt:
        yield f"--- {message.role}"
        yield message.content
