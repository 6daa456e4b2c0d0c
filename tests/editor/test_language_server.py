"""The language server, spoken to as an editor does: over stdio, in its protocol."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("pygls", reason="it speaks the protocol")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from stead_sym.deployment.files import load_text

URI = "file:///desk.stead"
REFUND = load_text("refund")[0]


class Editor:
    """A client with one file open."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.version = 0
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

    async def write(self, text: str) -> list[lsp.Diagnostic]:
        """Open the file, or change the whole text of it; what is then said of it."""
        self.version += 1
        if self.version == 1:
            document = lsp.TextDocumentItem(URI, "stead", self.version, text)
            self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        else:
            named = lsp.VersionedTextDocumentIdentifier(self.version, URI)
            change = lsp.TextDocumentContentChangeWholeDocument(text)
            self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [change]))
        said = await asyncio.wait_for(self.told.get(), 60)
        assert said.version == self.version
        return list(said.diagnostics)


def edit(act: Callable[[Editor], Awaitable[None]]) -> None:
    """Start the server, and act as an editor."""

    async def go() -> None:
        client = LanguageClient("tests", "1")
        editor = Editor(client)

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            editor.told.put_nowait(params)

        await client.start_io(sys.executable, "-m", "stead_sym", "lsp", "--stdio")
        await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
        client.initialized(lsp.InitializedParams())
        await act(editor)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()

    asyncio.run(go())


def position(text: str, what: str, offset: int = 0, number: int = 0) -> lsp.Position:
    """Return where a text stands, in UTF-16 units."""
    begin = -1
    for _ in range(number + 1):
        begin = text.index(what, begin + 1)
    begin += offset
    before = text[:begin]
    line = before.split("\n")[-1]
    return lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


HERE = lsp.TextDocumentIdentifier(URI)


def marked(text: str, place: lsp.Range) -> str:
    assert place.start.line == place.end.line
    line = text.split("\n")[place.start.line].encode("utf-16-le")
    return line[place.start.character * 2 : place.end.character * 2].decode("utf-16-le")


def test_diagnostics_come_while_typing() -> None:
    async def act(editor: Editor) -> None:
        assert await editor.write(REFUND) == []
        broken = REFUND.replace("bound case 1", "bound caze 1")
        [error] = await editor.write(broken)
        assert (error.code, error.severity) == ("DeclarationError", lsp.DiagnosticSeverity.Error)
        assert marked(broken, error.range) == "caze"
        assert error.message == "unknown sort caze; did you mean case?"
        half = REFUND[: REFUND.index("spec auth") + 4]
        [error] = await editor.write(half)
        assert error.code == "ParseError"
        linted = REFUND + "define unused() = true\n"
        [finding] = await editor.write(linted)
        assert (finding.code, finding.severity) == ("unused-define", lsp.DiagnosticSeverity.Warning)
        assert marked(linted, finding.range) == "unused"
        assert await editor.write(REFUND) == []

    edit(act)


def test_no_data_is_read_for_an_editor() -> None:
    """A text that names files or databases may be anybody's; what does not hang on them is checked all the
    same."""
    text = REFUND + 'init from "/nowhere/cases.csv" into CaseStatus(case, status)\n'

    async def act(editor: Editor) -> None:
        [said] = await editor.write(text)
        assert (said.code, said.severity) == ("data-not-read", lsp.DiagnosticSeverity.Information)
        assert marked(text, said.range) == "init"
        [error] = await editor.write(text.replace("into CaseStatus(", "into CaseStatus"))
        assert error.code == "ParseError"
        for more, wrong in (
            ("spec s AG Approvd(_, _)", "Approvd"),
            ("spec s AG Approver(_)", "Approver"),
            ("spec s AG forall t: task. Approver(t, _)", "t"),
        ):
            error, said = await editor.write(text + more)
            assert (error.code, said.code) == ("DeclarationError", "data-not-read")
            assert marked(text + more, error.range) == wrong
        [said] = await editor.write(text + "spec s AG CaseStatus(case_17, open)")  # it may be in the file
        assert said.code == "data-not-read"

    edit(act)


def test_places_count_in_the_units_of_the_protocol() -> None:
    text = REFUND.replace(
        'tool ingest_case() "Take the next refund case from the queue."',
        'tool ingest_case() "𝄞𝄞" guard nosuch tool other() "𝄞"',
    )

    async def act(editor: Editor) -> None:
        [error] = await editor.write(text)
        assert marked(text, error.range) == "nosuch"

    edit(act)


LINES = re.compile("\r\n|\r|\n")
"""The ends of lines by the protocol; a page break and what Unicode calls a line separator do not."""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_the_protocol(end: str) -> None:
    """A place is found, and a rename is made, where an editor sees it."""
    odd = "\x0b \x0c \x1c \x85 \u2028 𝄞"
    text = f"# {odd} a\n{REFUND}".replace("Take the next", f"Take {odd} the next").replace("\n", end)
    told = position("\n".join(LINES.split(text)), "forall t, c, s, a", 7)

    async def act(editor: Editor) -> None:
        assert await editor.write(text) == []
        change = await editor.client.text_document_rename_async(lsp.RenameParams(HERE, told, "job"))
        assert change is not None
        assert change.changes is not None
        new = applied("\n".join(LINES.split(text)), change.changes[URI])
        assert "AG forall job, c, s, a. (RefundIssued(job) & PartOf(job, c) &" in new
        broken = text.replace("bound case 1", "bound caze 1")
        [error] = await editor.write(broken)
        assert marked("\n".join(LINES.split(broken)), error.range) == "caze"

    edit(act)


def test_places_outside_of_the_text_have_no_name() -> None:
    async def act(editor: Editor) -> None:
        await editor.write(REFUND)
        for line, character in ((0, 10**6), (10**6, 0), (10**6, 10**6), (3, 10**9)):
            there = lsp.Position(line, character)
            hover = await editor.client.text_document_hover_async(lsp.HoverParams(HERE, there))
            found = await editor.client.text_document_definition_async(lsp.DefinitionParams(HERE, there))
            assert (hover, found) == (None, [])
            assert await editor.client.text_document_rename_async(lsp.RenameParams(HERE, there, "x")) is None

    edit(act)


def test_hover_definition_references_and_symbols() -> None:
    async def act(editor: Editor) -> None:
        await editor.write(REFUND)
        at = position(REFUND, "issue_refund(t)", 3)
        hover = await editor.client.text_document_hover_async(lsp.HoverParams(HERE, at))
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert hover.contents.value.startswith("tool `issue_refund(task_id: task)`")
        assert hover.range is not None
        assert marked(REFUND, hover.range) == "issue_refund"
        found = await editor.client.text_document_definition_async(lsp.DefinitionParams(HERE, at))
        assert isinstance(found, list)
        [place] = found
        assert isinstance(place, lsp.Location)
        assert place.range.start == position(REFUND, "issue_refund(task_id")
        uses = await editor.client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(True), HERE, at)
        )
        assert uses is not None
        assert [marked(REFUND, use.range) for use in uses] == ["issue_refund"] * 3
        nothing = await editor.client.text_document_hover_async(lsp.HoverParams(HERE, lsp.Position(0, 3)))
        assert nothing is None
        symbols = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(HERE))
        assert symbols is not None
        assert {"refund", "case", "PartOf", "pending", "issue_refund", "auth"} <= {s.name for s in symbols}
        items = await editor.client.text_document_completion_async(lsp.CompletionParams(HERE, at))
        assert isinstance(items, list)
        assert {"PartOf", "forall", "ensure"} <= {item.label for item in items}

    edit(act)


def applied(text: str, edits: Any) -> str:
    lines = text.split("\n")
    for change in sorted(edits, key=lambda one: one.range.start.character, reverse=True):
        number = change.range.start.line
        line = lines[number].encode("utf-16-le")
        begin, end = change.range.start.character * 2, change.range.end.character * 2
        lines[number] = (line[:begin] + change.new_text.encode("utf-16-le") + line[end:]).decode("utf-16-le")
    return "\n".join(lines)


def test_rename_reaches_every_place_and_never_captures() -> None:
    async def act(editor: Editor) -> None:
        await editor.write(REFUND)
        at = position(REFUND, "forall t, c, s, a", 7)
        change = await editor.client.text_document_rename_async(lsp.RenameParams(HERE, at, "job"))
        assert change is not None
        assert change.changes is not None
        text = applied(REFUND, change.changes[URI])
        assert "AG forall job, c, s, a. (RefundIssued(job) & PartOf(job, c) &" in text
        assert text.count("job") == 4
        assert await editor.write(text) == []
        for name in ("c", "forall", "no name"):
            with pytest.raises(JsonRpcException):
                await editor.client.text_document_rename_async(lsp.RenameParams(HERE, at, name))
        assert (
            await editor.client.text_document_rename_async(lsp.RenameParams(HERE, lsp.Position(0, 3), "x"))
        ) is None

    edit(act)


def test_closing_a_file_takes_its_diagnostics_away() -> None:
    async def act(editor: Editor) -> None:
        assert len(await editor.write("deployment")) == 1
        editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(HERE))
        said = await asyncio.wait_for(editor.told.get(), 60)
        assert list(said.diagnostics) == []

    edit(act)


@pytest.mark.parametrize("last", [[{"id": 2, "method": "shutdown"}, {"method": "exit"}], []])
def test_the_server_ends_quietly_with_its_editor(last: list[dict[str, object]]) -> None:
    first = {
        "id": 1,
        "method": "initialize",
        "params": {"capabilities": {}, "processId": None, "rootUri": None},
    }
    said = b""
    for message in (first, {"method": "initialized", "params": {}}, *last):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        said += b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
    command = [sys.executable, "-m", "stead_sym", "lsp"]
    ended = subprocess.run(command, input=said, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b'"serverInfo"' in ended.stdout
