"""Read the comments that accept a finding: `# accepted vacuous: why`, on the line of the finding or above it.

An author who has looked at a finding and leaves the file as it is can say so at the place. Then a strict run
passes, and the next reader knows why. With `# accepted vacuous under careful: why` the finding is accepted
only if the agent `careful` decides. Like every comment it changes nothing of what the file means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stead_sym.errors import Span

_COMMENT = re.compile(
    r"#\s*accepted\s+(?P<kind>[a-z][a-z ]*?)(?:\s+under\s+(?P<agent>[^:]+?))?\s*:\s*(?P<reason>\S.*)"
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A comment that accepts findings of this ``kind`` at ``line``, for this ``reason``.

    It applies if this ``agent`` decides; with None, for every agent. ``place`` is the location of the
    comment.
    """

    kind: str
    agent: str | None
    reason: str
    line: int
    place: Span


def accepted_in(text: str, source: str) -> tuple[Accepted, ...]:
    """Return the comments of the text that accept a finding.

    A comment on a line of its own applies to the next line that is not a comment.
    """
    return tuple(_accepted(text.split("\n"), source))


def _accepted(lines: list[str], source: str) -> Iterator[Accepted]:
    for number, line in enumerate(lines, 1):
        if comment := _COMMENT.search(line):
            target = number
            while target < len(lines) and lines[target - 1].lstrip().startswith("#"):
                target += 1
            place = Span(source, number, comment.start() + 1)
            yield Accepted(comment["kind"], comment["agent"], comment["reason"].rstrip(), target, place)
