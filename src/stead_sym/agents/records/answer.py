"""What an agent answered to one decision context, as a record that a verdict can rest on.

The decision: a record holds all that the selection follows from (of a language model the tokens of the
offered calls, the log-probabilities at the branching nodes and the rule, of any other agent its answers), so
that whoever reads it derives the selection again instead of believing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, assert_never, runtime_checkable

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.digest import digest, spelled
from stead_sym.agents.records.possible import Branching, Greedy, Rule, Tokens, rule_data, rule_from_data
from stead_sym.agents.records.said import SAMPLES, Decoding, Given, Said, Samples, Unforced
from stead_sym.agents.records.trie import Decoder, trie
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, InputError, StoreError


class Offered(NamedTuple):
    """An offered call with its text and the tokens of the text, the end token last; no tokens where the agent
    decodes none."""

    call: Call
    text: str
    tokens: Tokens = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one decision context.

    ``key`` is the digest of everything that determines it; ``calls`` are sorted; ``model`` identifies the
    model or agent, and ``versions`` are those of the libraries that ran it at ``time`` (UTC).
    ``prompt_digest`` is that of the prompt's token ids, or of its texts where there are none.
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
        """`Decoding.margin`; None where no tokens were decoded."""
        return self.said.margin if isinstance(self.said, Decoding) else None

    @property
    def mass(self) -> float | None:
        """`Decoding.mass`; None where no tokens were decoded."""
        return self.said.mass if isinstance(self.said, Decoding) else None

    @property
    def whole(self) -> float | None:
        """`Decoding.whole`; None where no tokens were decoded."""
        return self.said.whole if isinstance(self.said, Decoding) else None

    @property
    def branchings(self) -> tuple[Branching, ...]:
        """The branching nodes that were visited."""
        return self.said.branchings if isinstance(self.said, Decoding) else ()

    @property
    def rule(self) -> Rule | None:
        """What makes a selection of the log-probabilities; None where there are none."""
        return self.said.rule if isinstance(self.said, Decoding) else None

    @property
    def covered(self) -> float | None:
        """The probability that sampling at the rule's temperature picks a selected call; None where no tokens
        were decoded."""
        if not isinstance(self.said, Decoding):
            return None
        return min(1.0, sum(self._decoded(self.said.rule).selected.values()))

    @property
    def question(self) -> str:
        """The digest of the prompt and the calls' texts: what was asked, whoever answered."""
        return question(self.prompt, [offered.text for offered in self.calls])

    def under(self, rule: Rule) -> Answer:
        """The answer that the same log-probabilities give under another rule; one without is returned as it
        is.

        Raises `StoreError` where a node that is needed was not visited.
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
        """The record as JSON data; `from_data` reads it back."""
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
        """`digest.spelled(data())`, in which a call that many contexts offer is spelled once."""
        parts = {
            "calls": f"[{','.join(map(_spelled_call, self.calls))}]",
            "key": spelled(self.key),
            "model": spelled(dict(self.model)),
            "prompt": spelled(self.prompt),
            "prompt_digest": spelled(self.prompt_digest),
            "said": spelled(_said_data(self.said)),
            "selected": spelled([_call_data(call) for call in sorted(self.selected)]),
            "time": spelled(self.time),
            "versions": spelled(dict(self.versions)),
        }
        return f"{{{','.join(f'{spelled(name)}:{text}' for name, text in parts.items())}}}"

    @classmethod
    def from_data(cls, data: Any) -> Answer:
        """The record that `data` wrote, or the first version of it.

        Raises `StoreError` where something is missing, or the selection does not follow from the rest.
        """
        if isinstance(data, dict) and "branchings" in data:
            data = _from_first_version(data)
        if not _is_record(data):
            raise StoreError("not a decision: a part is missing, or is of another kind than it should be")
        try:
            answer = cls(
                key=data["key"],
                prompt=tuple(Message(role, content) for role, content in data["prompt"]),
                prompt_digest=data["prompt_digest"],
                calls=tuple(
                    _offered(o["call"][0], tuple(o["call"][1]), o["text"], tuple(o["tokens"]))
                    for o in data["calls"]
                ),
                said=_said(data["said"]),
                selected=frozenset(map(_call, data["selected"])),
                model=_named(tuple(data["model"].items())),
                versions=_named(tuple(data["versions"].items())),
                time=data["time"],
            )
        except (AgentError, InputError, OverflowError) as error:  # the last for integers beyond all floats
            raise StoreError(f"not a decision: {error}") from None
        answer._check()
        return answer

    def _check(self) -> None:
        """Raise `StoreError` where the selection does not follow from what was said."""
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
                if SAMPLES not in self.model:  # all calls were selected there, once
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
    """One object for a call that many records have: these are kept, and looked through for garbage."""
    return Offered(Call(tool, args), text, tokens)


@lru_cache(maxsize=256)
def _named(items: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """One object for what many records name."""
    return dict(items)


@lru_cache(maxsize=1 << 12)
def _spelled_call(offered: Offered) -> str:
    return spelled(_offered_data(offered))


def _call_data(call: Call) -> list[Any]:
    return [call.tool, list(call.args)]


def _call(data: Any) -> Call:
    return Call(data[0], tuple(data[1]))


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


def _said(data: Any) -> Said:
    if "answers" in data:
        return Samples(tuple(map(_given, data["answers"])))
    unforced = data["unforced"]
    return Decoding(
        tuple(
            Branching(tuple(b["path"]), tuple(b["allowed"]), tuple(map(float, b["logprobs"])))
            for b in data["branchings"]
        ),
        rule_from_data(data["rule"]),
        None if unforced is None else Unforced(*unforced[:4], *map(_finite, unforced[4:])),
    )


def _unforced_data(unforced: Unforced | None) -> list[Any] | None:
    """As a list, without a last place that says nothing: older records have none."""
    if unforced is None:
        return None
    return list(unforced if unforced.logprob is not None else unforced[:-1])


def given_data(given: Given) -> dict[str, Any]:
    """One answer as JSON data; `given_from_data` reads it back."""
    return {
        "calls": [_call_data(call) for call in given.calls],
        "note": given.note,
        "logprob": given.logprob,
    }


def given_from_data(data: Any) -> Given:
    """The answer that `given_data` wrote; `StoreError` for other data."""
    if not _is_given(data):
        raise StoreError("not an answer: a part is missing, or is of another kind than it should be")
    return _given(data)


def _given(data: Any) -> Given:
    return Given(tuple(map(_call, data["calls"])), data["note"], _finite(data["logprob"]))


def _finite(logprob: float | None) -> float | None:
    if logprob is None or math.isfinite(logprob):
        return logprob
    raise StoreError(f"not a decision: {logprob} is no log-probability")


def _from_first_version(data: dict[Any, Any]) -> dict[Any, Any]:
    """A record in which branchings and tolerance stood at the top, and each margin beside its branching."""
    rest = {name: part for name, part in data.items() if name not in ("branchings", "tolerance")}
    if not _are_first_branchings([data["branchings"], data.get("tolerance")]):
        return rest
    branchings = [{name: node[name] for name in _NODE} for node in data["branchings"]]
    rule = rule_data(Greedy(data["tolerance"])) if data["tolerance"] >= 0 else {}
    return {**rest, "said": {"branchings": branchings, "rule": rule, "unforced": None}}


class _Either(NamedTuple):
    """One of several shapes."""

    shapes: tuple[Any, ...]


_CALL = (str, [str])
_GIVEN = {"calls": [_CALL], "note": str, "logprob": _Either((None, float))}
_NODE = {"path": [int], "allowed": [int], "logprobs": [float]}
_UNFORCED = (int, int, _Either((None, int)), str)
_RECORD = {
    "key": str,
    "prompt": [(str, str)],
    "prompt_digest": str,
    "calls": [{"call": _CALL, "text": str, "tokens": [int]}],
    "said": _Either(
        (
            {
                "branchings": [_NODE],
                "rule": {str: float},
                "unforced": _Either((None, _UNFORCED, (*_UNFORCED, float))),
            },
            {"answers": [_GIVEN]},
        )
    ),
    "selected": [_CALL],
    "model": {str: str},
    "versions": {str: str},
    "time": str,
}
"""The shape of a record: a type; None; a list of things of one shape, or of one for each place; named
parts."""


_KINDS: Mapping[type, frozenset[type]] = {
    int: frozenset({int}),
    float: frozenset({int, float}),
    str: frozenset({str}),
}


def _shaped(shape: object) -> Callable[[Any], bool]:
    """The check whether data have a shape."""
    match shape:
        case None:
            return lambda data: data is None
        case _Either(shapes):
            either = [_shaped(one) for one in shapes]
            return lambda data: any(check(data) for check in either)
        case list([type() as one]):
            kinds = _KINDS[one]
            return lambda data: type(data) is list and set(map(type, data)) <= kinds
        case list([one]):
            each = _shaped(one)
            return lambda data: type(data) is list and all(map(each, data))
        case tuple(places):
            checks = [_shaped(place) for place in places]
            return lambda data: (
                type(data) is list
                and len(data) == len(checks)
                and all(check(item) for check, item in zip(checks, data, strict=True))
            )
        case {**parts} if str in parts:
            value = _shaped(parts[str])
            return lambda data: type(data) is dict and all(map(value, data.values()))
        case {**parts}:
            named = [(name, _shaped(part)) for name, part in parts.items()]
            return lambda data: (
                type(data) is dict
                and data.keys() == parts.keys()
                and all(check(data[name]) for name, check in named)
            )
        case type():
            those = _KINDS[shape]
            return lambda data: type(data) in those
        case _:
            raise AssertionError(f"no shape: {shape}")


_is_record = _shaped(_RECORD)
_is_given = _shaped(_GIVEN)
_are_first_branchings = _shaped(([{"margin": float, **_NODE}], float))


@runtime_checkable
class Recorder(Protocol):
    """An agent whose selections have records."""

    def answer(self, context: DecisionContext) -> Answer | None: ...


def recorded_answer(agent: object, context: DecisionContext) -> Answer | None:
    """The record of what an agent selected in a canonical context; None where it keeps none."""
    return agent.answer(context) if isinstance(agent, Recorder) else None


def recorded_answers(
    agent: object, decisions: Iterable[tuple[DecisionContext, frozenset[Call]]]
) -> tuple[Answer, ...]:
    """The records of decisions in canonical contexts, of an agent that keeps some."""
    records = (recorded_answer(agent, context) for context, _ in decisions)
    return tuple(record for record in records if record is not None)


def question(prompt: Sequence[Message], texts: Sequence[str]) -> str:
    """The digest of a prompt and the texts of the offered calls, in order."""
    return digest([[list(message) for message in prompt], list(texts)])
