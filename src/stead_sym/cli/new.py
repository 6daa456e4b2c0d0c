"""`stead-sym new`: a commented deployment to start from, which verifies.

One decision: the file is a template with another name in it, and no existing file is overwritten.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from importlib.resources import files
from os.path import lexists
from pathlib import Path

from stead_sym.errors import InputError
from stead_sym.logic.names import check_name
from stead_sym.support.printable import printable

TEMPLATES: Mapping[str, str] = {
    "approval": "one agent, whose calls may want an approval first",
    "agents": "two agents with views of their own, and an event",
    "table": "records that are read from a table, here NAME.csv",
    "database": "any database of some kind at the start; keys and ordered values",
}
"""The templates with their content; the first is the default."""
_WITH_DATA = frozenset({"table"})
"""The templates that read a data file. It is written beside the deployment."""


def add_new(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `new`."""
    parser.set_defaults(run=_new)
    parser.add_argument("name", metavar="NAME", help="the name of the deployment; the file is NAME.stead")
    listed = "; ".join(f"{name}: {shows}" for name, shows in TEMPLATES.items())
    parser.add_argument(
        "--template",
        choices=tuple(TEMPLATES),
        default=next(iter(TEMPLATES)),
        help=f"{listed} (default: first)",
    )
    parser.add_argument("--tests", action="store_true", help="write test_NAME.py too, for pytest")


def template(name: str, ending: str = "stead") -> str:
    """Return the text of a template, or of the file that it reads."""
    return files("stead_sym.cli").joinpath("templates", f"{name}.{ending}").read_text(encoding="utf-8")


def _new(options: argparse.Namespace) -> int:
    path = Path(options.name).with_suffix("") if options.name.endswith(".stead") else Path(options.name)
    name = path.name.replace("-", "_")
    check_name("deployment", name, words=False)
    text = template(options.template).replace(f"deployment {options.template}", f"deployment {name}")
    file = path.with_name(f"{path.name}.stead")
    written = {file: text.replace(" FILE", f" {file.name}")}
    if options.template in _WITH_DATA:
        data = path.with_name(f"{path.name}.csv")
        written[file] = written[file].replace(f'"{options.template}.csv"', f'"{data.name}"')
        written[data] = template(options.template, "csv")
    if options.tests:
        written[path.with_name(f"test_{name}.py")] = _TESTS.format(
            file=file.name, agent=_AGENTS[options.template]
        )
    for target in written:
        if lexists(target):
            raise _there(target)
    for target, content in written.items():
        try:
            with target.open("x", encoding="utf-8") as new:  # overwrites no file, and follows no link
                new.write(content)
        except FileExistsError:
            raise _there(target) from None
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror}); name another place") from None
        print(printable(target))
    then = ", and pytest" if options.tests else ""
    print(f"stead-sym: next: stead-sym verify {printable(file)}{then}", file=sys.stderr)
    return 0


def _there(target: Path) -> InputError:
    return InputError(f"{target}: is there already; give another name, or remove it")


_TESTS = '''"""{file} does what it should: `pytest`."""


def test_every_specification_holds(stead):
    stead.holds("{file}", {agent})
'''
_AGENTS: Mapping[str, str] = {
    "approval": '"careful"',
    "agents": '{"sorter": "quick", "writer": "prompt"}',
    "table": '"careful"',
    "database": '"careful"',
}
"""The agents with which a template is tested."""
