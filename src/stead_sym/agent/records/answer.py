"""What a language model answered to one decision context, as a record that a verdict can rest on.

The decision: a record holds all that the selection follows from (the tokens of the offered calls, the
log-probabilities at the branching nodes, the tolerance), so that whoever reads it derives the selection again
instead of believing it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.prompts.prompt import Message
from stead_sym.agent.records.digest import digest
from stead_sym.agent.records.trie import Branching, Decoder, Tokens, Trie
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, StoreError


class Offered(NamedTuple):
    """An offered call with its text and the tokens of the text, the end token last."""

    call: Call
    text: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer to one decision context.

    ``key`` is the digest of everything that determines it; ``calls`` are sorted; ``branchings`` are the
    branching nodes that were visited; ``model`` identifies the model, and ``versions`` are those of the
    libraries that ran it at ``time`` (UTC). ``prompt_digest`` is that of the prompt's token ids.
    """

    key: str
    prompt: tuple[Message, ...]
    prompt_digest: str
    calls: tuple[Offered, ...]
    branchings: tuple[Branching, ...]
    selected: frozenset[Call]
    tolerance: float
    model: Mapping[str, str]
    versions: Mapping[str, str]
    time: str

    @property
    def margin(self) -> float | None:
        """The least margin at a branching node; None where every token was forced."""
        return min((branching.margin for branching in self.branchings), default=None)

    @property
    def question(self) -> str:
        """The digest of the prompt and the calls' texts: what was asked, whoever answered."""
        return question(self.prompt, [offered.text for offered in self.calls])

    def under(self, tolerance: float) -> Answer:
        """The answer that the same log-probabilities give under another tolerance.

        Raises `StoreError` where a node that is needed was not visited.
        """
        try:
            decoder = Decoder(Trie([offered.tokens for offered in self.calls]), tolerance)
            known = {branching.path: branching for branching in self.branchings}
            while decoder.open:
                path, allowed = decoder.open[0]
                if path not in known or known[path].allowed != allowed:
                    raise StoreError(f"no log-probabilities after the tokens {list(path)}")
                decoder.tell(path, known[path].logprobs)
        except AgentError as error:
            raise StoreError(error.message) from None
        selected = frozenset(self.calls[number].call for number in decoder.selected)
        return replace(self, branchings=decoder.branchings, selected=selected, tolerance=tolerance)

    def data(self) -> dict[str, Any]:
        """The record as JSON data; `from_data` reads it back."""
        return {
            "key": self.key,
            "prompt": [list(message) for message in self.prompt],
            "prompt_digest": self.prompt_digest,
            "calls": [
                {"call": [o.call.tool, list(o.call.args)], "text": o.text, "tokens": list(o.tokens)}
                for o in self.calls
            ],
            "branchings": [
                {
                    "path": list(b.path),
                    "allowed": list(b.allowed),
                    "logprobs": list(b.logprobs),
                    "margin": b.margin,
                }
                for b in self.branchings
            ],
            "selected": [[call.tool, list(call.args)] for call in sorted(self.selected)],
            "tolerance": self.tolerance,
            "model": dict(self.model),
            "versions": dict(self.versions),
            "time": self.time,
        }

    @classmethod
    def from_data(cls, data: Any) -> Answer:
        """The record that `data` wrote.

        Raises `StoreError` where something is missing, or the selection does not follow from the rest.
        """
        if not _has_shape(data, _RECORD):
            raise StoreError("not a decision: a part is missing, or is of another kind than it should be")
        try:
            answer = cls(
                key=data["key"],
                prompt=tuple(Message(role, content) for role, content in data["prompt"]),
                prompt_digest=data["prompt_digest"],
                calls=tuple(
                    Offered(Call(o["call"][0], tuple(o["call"][1])), o["text"], tuple(o["tokens"]))
                    for o in data["calls"]
                ),
                branchings=tuple(
                    Branching(tuple(b["path"]), tuple(b["allowed"]), tuple(b["logprobs"]))
                    for b in data["branchings"]
                ),
                selected=frozenset(Call(tool, tuple(args)) for tool, args in data["selected"]),
                tolerance=data["tolerance"],
                model=data["model"],
                versions=data["versions"],
                time=data["time"],
            )
        except AgentError as error:
            raise StoreError(f"not a decision: {error}") from None
        if not all(offered.tokens for offered in answer.calls) or not answer.calls:
            raise StoreError("not a decision: no call, or one without tokens")
        if answer.under(answer.tolerance) != answer:
            raise StoreError("the recorded selection does not follow from the recorded log-probabilities")
        return answer


_CALL = (str, [str])
_RECORD = {
    "key": str,
    "prompt": [(str, str)],
    "prompt_digest": str,
    "calls": [{"call": _CALL, "text": str, "tokens": [int]}],
    "branchings": [{"path": [int], "allowed": [int], "logprobs": [float], "margin": float}],
    "selected": [_CALL],
    "tolerance": float,
    "model": {str: str},
    "versions": {str: str},
    "time": str,
}
"""The shape of a record: a type; a list of things of one shape, or of one for each place; named parts."""


def _has_shape(data: object, shape: object) -> bool:
    match shape:
        case [one]:
            return isinstance(data, list) and all(_has_shape(item, one) for item in data)
        case tuple(places):
            return isinstance(data, list) and len(data) == len(places) and all(map(_has_shape, data, places))
        case {**parts} if str in parts:
            return isinstance(data, dict) and all(_has_shape(item, parts[str]) for item in data.values())
        case {**parts}:
            return (
                isinstance(data, dict)
                and data.keys() == parts.keys()
                and all(_has_shape(data[name], part) for name, part in parts.items())
            )
        case type():
            kinds = (int, float) if shape is float else (shape,)
            return isinstance(data, kinds) and not isinstance(data, bool)
        case _:
            raise AssertionError(f"no shape: {shape}")


@runtime_checkable
class Recorder(Protocol):
    """An agent whose selections have records."""

    def answer(self, context: DecisionContext) -> Answer | None: ...


def recorded_answer(agent: object, context: DecisionContext) -> Answer | None:
    """The record of what an agent selected in a canonical context; None where it keeps none."""
    return agent.answer(context) if isinstance(agent, Recorder) else None


def question(prompt: Sequence[Message], texts: Sequence[str]) -> str:
    """The digest of a prompt and the texts of the offered calls, in order."""
    return digest([[list(message) for message in prompt], list(texts)])
