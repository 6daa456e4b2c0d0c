"""`stead-sym export`: the verified system, in the format of another model checker; its tools and tables.

One decision: for other model checkers the specifications are verified first, and the files include our
verdicts. Tools and tables are written as they are in the file. The status is 0 once the files are written,
for any verdicts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stead_sym.analyses.state_graph import MAX_STATES
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import domain
from stead_sym.cli.request import DOMAIN, add_request, request_of
from stead_sym.errors import InputError
from stead_sym.export.model import Export, exported
from stead_sym.export.schemas import FORMS, to_tools
from stead_sym.export.smv import to_smv
from stead_sym.export.sql import Sql, to_sql
from stead_sym.export.sql_tables import SQL_DIALECTS
from stead_sym.export.storm import to_storm
from stead_sym.report.streams import refuse_source, write_file
from stead_sym.support.printable import printable
from stead_sym.verification.verify import verify


def add_export(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `export`."""
    parser.set_defaults(run=_export)
    add_request(parser, questions=True, domain_help=DOMAIN)
    parser.add_argument("--smv", metavar="OUT", help="a file for NuSMV or nuXmv, or -: stdout")
    parser.add_argument("--tra", metavar="DIR", help="a folder for Storm: .tra, .lab and properties")
    parser.add_argument(
        "--tools", choices=FORMS, help="print the tools as function schemas, for a model or server"
    )
    parser.add_argument(
        "--sql", metavar="DIR", help="a folder for SQL: the tables, and tools as transactions"
    )
    parser.add_argument(
        "--dialect",
        choices=SQL_DIALECTS,
        default=SQL_DIALECTS[0],
        help=f"that of --sql (default: {SQL_DIALECTS[0]}, which has names for sorts)",
    )
    parser.add_argument("--engine", choices=("symbolic", "explicit"), default="symbolic")
    parser.add_argument(
        "--max-states",
        type=positive,
        metavar="N",
        default=MAX_STATES,
        help=f"write at most so many states (default: {MAX_STATES})",
    )
    add_limits(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but what goes to stdout")


def _export(options: argparse.Namespace) -> int:
    request = request_of(options)
    verified = options.smv is not None or options.tra is not None
    if not verified and options.tools is None and options.sql is None:
        raise InputError("no output is given; add --smv OUT, --tra DIR, --tools FORM or --sql DIR")
    if options.smv is not None:
        refuse_source(options.smv, options.file)
    deployment = request.load()
    agents = chosen_agents(deployment, options) if verified else {}
    tools, sql = None, None
    with display(options) as progress:
        if options.tools is not None:
            tools = to_tools(deployment, options.tools)
        if options.sql is not None:
            sql = to_sql(deployment, options.dialect)
        if verified:
            result = verify(
                deployment,
                agents,
                request.questions,
                engine=options.engine,
                domain=domain(request.domain),
                progress=progress,
                findings=False,
            )
    if tools is not None:
        print(tools, end="")
    if sql is not None:
        _write_sql(sql, options)
    if not verified:
        return 0
    export = exported(result, options.max_states)
    if options.smv is not None:
        _write(options.smv, to_smv(export))
    if options.tra is not None:
        try:
            to_storm(export).write(Path(options.tra))
        except OSError as error:
            raise InputError(
                f"{options.tra}: cannot be written ({error.strerror}); name another folder"
            ) from None
    if not options.quiet:
        _print_expected(export)
    return 0


def _write_sql(sql: Sql, options: argparse.Namespace) -> None:
    """Write the folder for SQL; print to stderr what is not in it."""
    try:
        sql.write(options.sql)
    except OSError as error:
        raise InputError(
            f"{options.sql}: cannot be written ({error.strerror}); name another folder"
        ) from None
    if not options.quiet:
        for line in sql.left_out:
            print(f"stead-sym: left out: {printable(line)}", file=sys.stderr)


def _write(target: str, text: str) -> None:
    if target == "-":
        print(text, end="")
        return
    write_file(target, text)


def _print_expected(export: Export) -> None:
    """Print to stderr the counts and verdicts that another checker should find."""
    for line in export.heading():
        print(f"stead-sym: {line}", file=sys.stderr)
    for question in export.questions:
        print(f"  {question.identifier} {question.words}", file=sys.stderr)
