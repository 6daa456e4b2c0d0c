"""The frame of a page of a report: head, navigation, policy and script around its sections.

The page is plain HTML, complete for a reader without scripts, a printer and a screen reader. The script in
`page.js` adds steps by keyboard and drawings that can be zoomed. One decision: no content of the page can
run. All text is escaped on insertion (`support.html`). The page's policy allows the one style and the one
script of the package, by their digests, and nothing else, including no address.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from stead_sym.report.drawing import STYLE
from stead_sym.support.html import Content, Html, tag
from stead_sym.support.printable import plural
from stead_sym.verification.verdict import OF_NOTHING

MARKER = "<!doctype html>\n<!-- report of stead-sym -->"
"""The beginning of a report."""
WORST_FIRST = ("fails", "unknown", OF_NOTHING, "holds")
"""The words of verdicts."""


def page_of(title: str, header: Html, sections: Sequence[tuple[str, str, Html]]) -> str:
    """Return a page of sections, each with its anchor and name."""
    style, script = _packaged("page.css") + STYLE, _packaged("page.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "To the verdicts", class_="skip", href="#verdicts"),
        header,
        tag(
            "nav",
            tag("ul", (tag("li", tag("a", name, href=f"#{anchor}")) for anchor, name, _ in sections)),
            aria_label="Sections",
        ),
        tag("main", (section for _, _, section in sections)),
        _footer(),
        tag("script", Html(script)),
    )
    return f"{MARKER}\n{tag('html', head, body, lang='en')}\n"


def section_of(anchor: str, name: str, *content: Content, count: int | None = None) -> tuple[str, str, Html]:
    """Return a section with its anchor and name."""
    heading = tag("h2", name, tag("span", f" {count:,}", class_="count") if count else None, id=f"{anchor}-h")
    return anchor, name, tag("section", heading, content, id=anchor, aria_labelledby=f"{anchor}-h")


def answered(words: Sequence[str]) -> str:
    """Return the verdicts, given as words, in one sentence."""
    if not words:
        return "no specification was checked"
    several = {"holds": "hold", OF_NOTHING: "hold, of nothing", "fails": "fail", "unknown": "are unknown"}
    if len(set(words)) == 1:
        one = "is unknown" if words[0] == "unknown" else words[0]
        if len(words) == 1:
            return f"the specification {one}"
        every = "both" if len(words) == 2 else f"all {len(words)}"
        return f"{every} specifications {several[words[0]]}"
    parts = []
    for word in WORST_FIRST:
        if number := words.count(word):
            one = "is unknown" if word == "unknown" else word
            parts.append(f"{number} {one if number == 1 else several[word]}")
    return f"of {plural(len(words), 'specification')}, {', '.join(parts)}"


def _packaged(name: str) -> str:
    return files("stead_sym.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)};"
        " base-uri 'none'; form-action 'none'"
    )


def _footer() -> Html:
    return tag(
        "footer",
        tag("p", "Written by stead-sym. This file is complete: it loads nothing and sends nothing."),
    )
