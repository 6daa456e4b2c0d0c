"""An agent's answer to one decision context, as a record on which a verdict can rest.

The decision: a record has all data that determine the selection (for a language model the tokens of the
offered calls, the log-probabilities at the branching nodes and the rule, for any other agent its answers). So
a reader derives the selection again instead of trusting it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar, assert_never, runtime_checkable

from msgspec import Struct, ValidationError, convert

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.digest import digest, joined, spelled
from stead_sym.agents.records.possible import Branching, Greedy, Rule, Tokens, rule_data, rule_from_data
from stead_sym.agents.records.said import SAMPLES, Decoding, Given, Said, Samples, Unforced
from stead_sym.agents.records.trie import Decoder, trie
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, InputError, StoreError


class Offered(NamedTuple):
    """An offered call with its text and the tokens of the text, the end token last.

    There are no tokens if the agent does not decode.
    """

    call: Call
    text: str
    tokens: Tokens = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one decision context.

    ``key`` is the digest of everything that determines it; ``calls`` are sorted; ``model`` identifies the
    model or agent, and ``versions`` are those of the libraries that ran it at ``time`` (UTC).
    ``prompt_digest`` is that of the prompt's token ids, or of its texts if there are none.
    """

    key: str
    prompt: tuple[Message, ...]
    prompt_digest: str
    calls: tuple[Offered, ...]
    said: Said
    selected: frozenset[Call]
    model: Mapping[str, str]
    versions: Mapping[str, str]
    time: str

    @property
    def margin(self) -> float | None:
        """The `Decoding.margin`; None if no tokens were decoded."""
        return self.said.margin if isinstance(self.said, Decoding) else None

    @property
    def mass(self) -> float | None:
        """The `Decoding.mass`; None if no tokens were decoded."""
        return self.said.mass if isinstance(self.said, Decoding) else None

    @property
    def whole(self) -> float | None:
        """The `Decoding.whole`; None if no tokens were decoded."""
        return self.said.whole if isinstance(self.said, Decoding) else None

    @property
    def branchings(self) -> tuple[Branching, ...]:
        """The visited branching nodes."""
        return self.said.branchings if isinstance(self.said, Decoding) else ()

    @property
    def rule(self) -> Rule | None:
        """The rule that selects by log-probabilities; None if there are none."""
        return self.said.rule if isinstance(self.said, Decoding) else None

    @property
    def covered(self) -> float | None:
        """The probability that sampling at the rule's temperature picks a selected call.

        None if no tokens were decoded.
        """
        if not isinstance(self.said, Decoding):
            return None
        return min(1.0, sum(self._decoded(self.said.rule).selected.values()))

    @property
    def question(self) -> str:
        """The digest of the prompt and the calls' texts, independent of the respondent."""
        return question(self.prompt, [offered.text for offered in self.calls])

    def under(self, rule: Rule) -> Answer:
        """Return the answer that the same log-probabilities give under another rule.

        An answer without log-probabilities is returned unchanged. Raise `StoreError` if a required node was
        not visited.
        """
        if not isinstance(self.said, Decoding):
            return self
        decoder = self._decoded(rule)
        selected = frozenset(self.calls[number].call for number in decoder.selected)
        said = Decoding(decoder.branchings, rule, self.said.unforced)
        return replace(self, said=said, selected=selected)

    def _decoded(self, rule: Rule) -> Decoder:
        try:
            decoder = Decoder(trie(tuple(offered.tokens for offered in self.calls)), rule)
            known = {branching.path: branching for branching in self.branchings}
            while decoder.open:
                path, allowed = decoder.open[0]
                if path not in known or known[path].allowed != allowed:
                    raise StoreError(f"no log-probabilities after the tokens {list(path)}")
                decoder.tell(path, known[path].logprobs)
        except AgentError as error:
            raise StoreError(error.message) from None
        return decoder

    def data(self) -> dict[str, Any]:
        """Return the record as JSON data, for `from_data`."""
        return {
            "key": self.key,
            "prompt": [list(message) for message in self.prompt],
            "prompt_digest": self.prompt_digest,
            "calls": list(map(_offered_data, self.calls)),
            "said": _said_data(self.said),
            "selected": [_call_data(call) for call in sorted(self.selected)],
            "model": dict(self.model),
            "versions": dict(self.versions),
            "time": self.time,
        }

    def spelled(self) -> str:
        """Return `digest.spelled(data())`, with the texts of calls cached."""
        data = self.data()
        calls = joined([*map(_spelled_call, self.calls)])
        return joined({name: calls if name == "calls" else spelled(part) for name, part in data.items()})

    @classmethod
    def from_data(cls, data: Any) -> Answer:
        """Return the record from data of `data`, or of its first version.

        Raise `StoreError` if a part is missing, or if the selection does not follow from the rest.
        """
        if isinstance(data, dict) and "branchings" in data:
            data = _from_first_version(data)
        record = _read(data, _Record)
        try:
            answer = cls(
                key=record.key,
                prompt=record.prompt,
                prompt_digest=record.prompt_digest,
                calls=tuple(_offered(*one.call, one.text, one.tokens) for one in record.calls),
                said=_said(record.said),
                selected=frozenset(record.selected),
                model=_named(tuple(record.model.items())),
                versions=_named(tuple(record.versions.items())),
                time=record.time,
            )
        except (AgentError, InputError, OverflowError) as error:  # OverflowError: a huge integer
            raise StoreError(f"not a decision: {error}") from None
        answer._check()
        return answer

    def _check(self) -> None:
        """Raise `StoreError` if the selection does not follow from the answers."""
        match self.said:
            case Decoding(_, rule):
                if not self.calls or not all(offered.tokens for offered in self.calls):
                    raise StoreError("not a decision: no call, or one without tokens")
                decoder = self._decoded(rule)
                selected = frozenset(self.calls[number].call for number in decoder.selected)
                if (decoder.branchings, selected) != (self.branchings, self.selected):
                    raise StoreError(
                        "the recorded selection does not follow from the recorded log-probabilities"
                    )
            case Samples():
                several = [frozenset(self.said.counts)]
                if SAMPLES not in self.model:  # an earlier version selected all calls
                    several += [frozenset(given.calls) for given in self.said.answers[:1]]
                if not self.selected or self.selected not in several:
                    raise StoreError("the recorded selection does not follow from the recorded answers")
                if not self.selected <= {offered.call for offered in self.calls}:
                    raise StoreError("the recorded selection has a call that was not offered")
            case _:
                assert_never(self.said)


def _offered_data(offered: Offered) -> dict[str, Any]:
    return {"call": _call_data(offered.call), "text": offered.text, "tokens": list(offered.tokens)}


@lru_cache(maxsize=1 << 12)
def _offered(tool: str, args: tuple[str, ...], text: str, tokens: Tokens) -> Offered:
    """Return a shared object for a call that many records have, to save memory and garbage collection."""
    return Offered(Call(tool, args), text, tokens)


@lru_cache(maxsize=256)
def _named(items: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return a shared object for a mapping that many records have."""
    return dict(items)


@lru_cache(maxsize=1 << 12)
def _spelled_call(offered: Offered) -> str:
    return spelled(_offered_data(offered))


def _call_data(call: Call) -> list[Any]:
    return [call.tool, list(call.args)]


def _said_data(said: Said) -> dict[str, Any]:
    match said:
        case Decoding(branchings, rule, unforced):
            return {
                "branchings": [
                    {"path": list(b.path), "allowed": list(b.allowed), "logprobs": list(b.logprobs)}
                    for b in branchings
                ],
                "rule": rule_data(rule),
                "unforced": _unforced_data(unforced),
            }
        case Samples(answers):
            return {"answers": [given_data(given) for given in answers]}
        case _:
            assert_never(said)


def _said(data: dict[str, Any]) -> Said:
    if "answers" in data:
        return Samples(tuple(map(_given, _read(data, _Samples).answers)))
    read = _read(data, _Decoding)
    if read.unforced is not None:
        _finite(read.unforced.logprob)
    nodes = tuple(Branching(node.path, node.allowed, node.logprobs) for node in read.branchings)
    return Decoding(nodes, rule_from_data(read.rule), read.unforced)


def _unforced_data(unforced: Unforced | None) -> list[Any] | None:
    """Return a list, without a last item that is None, as in older records."""
    if unforced is None:
        return None
    return list(unforced if unforced.logprob is not None else unforced[:-1])


def given_data(given: Given) -> dict[str, Any]:
    """Return one answer as JSON data, for `given_from_data`."""
    return {
        "calls": [_call_data(call) for call in given.calls],
        "note": given.note,
        "logprob": given.logprob,
    }


def given_from_data(data: Any) -> Given:
    """Return the answer from data of `given_data`; raise `StoreError` for other data."""
    return _given(_read(data, _Given))


def _given(read: _Given) -> Given:
    return Given(read.calls, read.note, _finite(read.logprob))


def _finite(logprob: float | None) -> float | None:
    if logprob is None or math.isfinite(logprob):
        return logprob
    raise StoreError(f"not a decision: {logprob} is no log-probability")


def _from_first_version(data: dict[Any, Any]) -> dict[Any, Any]:
    """Convert a record of the first version, with branchings and tolerance at the top level.

    There each margin was stored with its branching.
    """
    rest = {name: part for name, part in data.items() if name not in ("branchings", "tolerance")}
    first = _read({name: data.get(name) for name in ("branchings", "tolerance")}, _First)
    branchings = [
        {name: getattr(node, name) for name in _Node.__struct_fields__} for node in first.branchings
    ]
    rule = rule_data(Greedy(first.tolerance)) if first.tolerance >= 0 else {}
    return {**rest, "said": {"branchings": branchings, "rule": rule, "unforced": None}}


class _Part(Struct, forbid_unknown_fields=True):
    """A part of a record as JSON data, with exactly its fields."""


class _Offered(_Part):
    call: Call
    text: str
    tokens: Tokens


class _Given(_Part):
    calls: tuple[Call, ...]
    note: str
    logprob: float | None


class _Samples(_Part):
    answers: tuple[_Given, ...]


class _Node(_Part):
    path: Tokens
    allowed: Tokens
    logprobs: tuple[float, ...]


class _Decoding(_Part):
    branchings: tuple[_Node, ...]
    rule: dict[str, float]
    unforced: Unforced | None


class _Record(_Part):
    key: str
    prompt: tuple[Message, ...]
    prompt_digest: str
    calls: tuple[_Offered, ...]
    said: dict[str, Any]
    selected: tuple[Call, ...]
    model: dict[str, str]
    versions: dict[str, str]
    time: str


class _FirstNode(_Node):
    margin: float


class _First(_Part):
    branchings: tuple[_FirstNode, ...]
    tolerance: float


_P = TypeVar("_P", bound=_Part)


def _read(data: Any, kind: type[_P]) -> _P:
    try:
        return convert(data, kind)
    except (ValidationError, UnicodeEncodeError):  # UnicodeEncodeError: an unpaired surrogate
        raise StoreError(
            "not a decision: a part is missing, or is of another kind than it should be"
        ) from None


@runtime_checkable
class Recorder(Protocol):
    """An agent whose selections have records."""

    def answer(self, context: DecisionContext) -> Answer | None:
        """Return the record of a selection."""
        ...


def recorded_answer(agent: object, context: DecisionContext) -> Answer | None:
    """Return the record of an agent's selection in a canonical context; None if it keeps none."""
    return agent.answer(context) if isinstance(agent, Recorder) else None


def recorded_answers(
    agent: object, decisions: Iterable[tuple[DecisionContext, frozenset[Call]]]
) -> tuple[Answer, ...]:
    """Return the records of decisions in canonical contexts, if the agent keeps some."""
    records = (recorded_answer(agent, context) for context, _ in decisions)
    return tuple(record for record in records if record is not None)


def question(prompt: Sequence[Message], texts: Sequence[str]) -> str:
    """Return the digest of a prompt and the texts of the offered calls, in order."""
    return digest([[list(message) for message in prompt], list(texts)])
