"""The language server of `.stead` files, over stdio (`pygls`, extra `lsp`).

One decision: nothing is solved here. Diagnostics are the results of the parser and the linter, which take
milliseconds, so that they can be computed at every keystroke. No file and no database that a text names is
opened, since the text may come from anyone. In a text with facts from there, everything but the constants is
checked.

Editors send the whole text at every change. A line ends as the protocol requires, with a line feed, a
carriage return or both. Alone, `pygls` would end it at every character that Unicode calls a line break.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from stead_sym import __version__
from stead_sym.cli.editor.describe import KEYWORDS, described
from stead_sym.cli.editor.names import Names, Place, Symbol, clashes, declared
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment, read_items, with_line_feeds
from stead_sym.deployment.resolve import Items, resolve_items
from stead_sym.errors import InputError, Span
from stead_sym.verification.findings.static import lint

_WORD = re.compile(r"[A-Za-z0-9_]+")
_KINDS = {
    "sort": lsp.SymbolKind.Class, "relation": lsp.SymbolKind.Struct, "column": lsp.SymbolKind.Field,
    "define": lsp.SymbolKind.Function,
    "tool": lsp.SymbolKind.Method, "event": lsp.SymbolKind.Event, "agent": lsp.SymbolKind.Module,
    "policy": lsp.SymbolKind.Interface, "spec": lsp.SymbolKind.Boolean,
    "gate": lsp.SymbolKind.Interface, "constant": lsp.SymbolKind.Constant,
    "deployment": lsp.SymbolKind.Package,
}  # fmt: skip


@dataclass
class _Known:
    """The names and the deployment in the present text of a file, or in the latest readable one."""

    names: Names | None = None
    deployment: Deployment | None = None


class Server(LanguageServer):
    """The server; ``known`` has the results for each file by its address."""

    def __init__(self) -> None:
        super().__init__("stead-sym", __version__, lsp.TextDocumentSyncKind.Full)
        self.known: dict[str, _Known] = {}

    def lines(self, uri: str) -> list[str]:
        """Return the lines of a file as it is read."""
        return with_line_feeds(self.workspace.get_text_document(uri).source).split("\n")

    def looked_at(self, uri: str) -> list[lsp.Diagnostic]:
        """Read the text of a file, and return its errors and findings."""
        lines = self.lines(uri)
        text = "\n".join(lines)
        known = self.known.setdefault(uri, _Known())
        try:
            known.names = Names(text)
            items = read_items(text, uri)
            if items.loads:
                return [*self._without_data(lines, items, known.names), self._not_read(lines, items)]
            known.deployment = parse_deployment(text)
        except InputError as error:
            return [self._diagnostic(lines, error.span, error.message, type(error).__name__, error=True)]
        return [
            self._diagnostic(
                lines, finding.place, f"{finding.text}; {finding.remedy}", finding.kind.replace(" ", "-")
            )
            for finding in lint(known.deployment)
        ]

    def _without_data(self, lines: Sequence[str], items: Items, names: Names) -> Iterator[lsp.Diagnostic]:
        """Yield the error of a text whose data files are not read, if there is one.

        An error about a constant is left out, because the data may declare it. Any other error remains with
        the data.
        """
        try:
            resolve_items(replace(items, loads=()))
        except InputError as error:
            place = error.span
            found = None if place is None else names.at(place.line, place.column)
            if found is None or found[0].kind != "constant":
                yield self._diagnostic(lines, place, error.message, type(error).__name__, error=True)

    def _not_read(self, lines: Sequence[str], items: Items) -> lsp.Diagnostic:
        message = (
            "constants and findings are not checked: no data is read for an editor; `stead-sym check` does it"
        )
        said = self._diagnostic(lines, items.loads[0].span, message, "data-not-read")
        said.severity = lsp.DiagnosticSeverity.Information
        return said

    def _diagnostic(
        self, lines: Sequence[str], span: Span | None, message: str, code: str, *, error: bool = False
    ) -> lsp.Diagnostic:
        """Return a diagnostic with this message at a place; the word there is marked."""
        place = Place(1, 1, 0)
        if span is not None:
            word = _WORD.match(_line(lines, span.line - 1), span.column - 1)
            place = Place(span.line, span.column, len(word[0]) if word else 1)
        severity = lsp.DiagnosticSeverity.Error if error else lsp.DiagnosticSeverity.Warning
        return lsp.Diagnostic(self.range(lines, place), message, severity, code, source="stead-sym")

    def range(self, lines: Sequence[str], place: Place) -> lsp.Range:
        """Return a place of a text in the units of the client."""
        number, begin = place.line - 1, place.column - 1
        line, units = _line(lines, number), self.workspace.position_codec.client_num_units
        ends = (lsp.Position(number, units(line[:end])) for end in (begin, begin + place.length))
        return lsp.Range(*ends)

    def at(self, uri: str, position: lsp.Position) -> tuple[Symbol, Place] | None:
        """Return the name at a position, or None if there is none or the text cannot be read."""
        lines = self.lines(uri)
        units = self.workspace.position_codec.client_num_units
        before = [*accumulate(map(units, _line(lines, position.line)), initial=0)]
        column = bisect_left(before, position.character) + 1
        try:
            return Names("\n".join(lines)).at(position.line + 1, column)
        except InputError:
            return None

    def locations(self, uri: str, places: Iterable[Place]) -> list[lsp.Location]:
        """Return places of a file in the form of the protocol."""
        lines = self.lines(uri)
        return [lsp.Location(uri, self.range(lines, place)) for place in sorted(places)]


def _line(lines: Sequence[str], number: int) -> str:
    """Return a line, counted from 0; empty after the last one."""
    return lines[number] if number < len(lines) else ""


def make_server() -> Server:
    """Return the server with a handler for each request that it answers."""
    server = Server()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
        _publish(ls, params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
        _publish(ls, params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        ls.known.pop(uri, None)
        ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        if (found := ls.at(uri, params.position)) is None:
            return None
        symbol, place = found
        text = described(symbol, ls.known.get(uri, _Known()).deployment)
        said = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(said, ls.range(ls.lines(uri), place))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
        found = ls.at(params.text_document.uri, params.position)
        if found is None or found[0].declaration is None:
            return []
        return ls.locations(params.text_document.uri, [found[0].declaration])

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
        found = ls.at(params.text_document.uri, params.position)
        return ls.locations(params.text_document.uri, found[0].places) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(ls: Server, params: lsp.PrepareRenameParams) -> lsp.Range | None:
        uri = params.text_document.uri
        found = ls.at(uri, params.position)
        return ls.range(ls.lines(uri), found[1]) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(ls: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        if (found := ls.at(uri, params.position)) is None:
            return None
        lines = ls.lines(uri)
        if why := clashes("\n".join(lines), found[0], params.new_name):
            raise JsonRpcInvalidParams(why)
        places = sorted(found[0].places)
        edits = [lsp.TextEdit(ls.range(lines, place), params.new_name) for place in places]
        return lsp.WorkspaceEdit(changes={uri: edits})

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(ls: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        uri = params.text_document.uri
        if (names := ls.known.get(uri, _Known()).names) is None:
            return []
        lines = ls.lines(uri)
        return [
            lsp.DocumentSymbol(symbol.name, _KINDS[symbol.kind], there, there, symbol.kind)
            for symbol in declared(names)
            if symbol.declaration is not None and (there := ls.range(lines, symbol.declaration))
        ]

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION)
    def completion(ls: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        known = ls.known.get(params.text_document.uri, _Known())
        words = [lsp.CompletionItem(word, kind=lsp.CompletionItemKind.Keyword) for word in KEYWORDS]
        if known.names is None:
            return words
        named: dict[str, Symbol] = {}
        for symbol in declared(known.names):
            named.setdefault(symbol.name, symbol)  # a column may have the name of its sort
        return [
            lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Reference, detail=_detail(symbol, known))
            for name, symbol in named.items()
        ] + words

    return server


def _publish(server: Server, uri: str) -> None:
    document = server.workspace.get_text_document(uri)
    found = server.looked_at(uri)
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, document.version))


def _detail(symbol: Symbol, known: _Known) -> str:
    return described(symbol, known.deployment).split("\n")[0].replace("`", "")
