"""One decision in progress: its prompt as tokens, its calls as a trie, and the keys of what is asked.

The decision: a key is the digest of everything that determines an answer. All keys of one decision begin with
the same text, of which the prompt's tokens are most; it is spelled and hashed once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.agents.records.answer import Offered
from stead_sym.agents.records.digest import digest, spelled, spelled_tokens
from stead_sym.agents.records.possible import Rule, Tokens, rule_data
from stead_sym.agents.records.trie import Decoder, Trie, trie
from stead_sym.deployment.tool import Call
from stead_sym.errors import ModelError
from stead_sym.models.backend import Backend
from stead_sym.relational.canonical import FORM_VERSION


@dataclass(eq=False)
class Draft:
    """A decision before anything is tokenized: what is asked, as texts, and the ``key`` of that."""

    context: DecisionContext
    messages: tuple[Message, ...]
    calls: tuple[Call, ...]
    key: str


@dataclass(eq=False)
class Walk:
    """A decision in progress. ``sent`` has the nodes that the model was asked about, with their keys."""

    draft: Draft
    prompt: Tokens
    calls: tuple[Offered, ...]
    decoder: Decoder
    keys: Keys
    sent: dict[Tokens, str] = field(default_factory=dict)
    asked: bool = False


class Walks:
    """Makes walks for one model, prompt and rule."""

    def __init__(self, backend: Backend, prompt: Prompt, rule: Rule) -> None:
        self._backend = backend
        self._prompt = prompt
        self._rule = rule
        self._identity = dict(backend.identity)
        self._around = Around.of(self._identity, rule)
        self._shared: dict[Message, Message] = {}
        self._offered = lru_cache(maxsize=1 << 14)(self._offer)
        self.text = lru_cache(maxsize=1 << 14)(prompt.call_text)

    def draft(self, context: DecisionContext) -> Draft:
        """The question that a context is. The identity of a model has that of its tokenizer, so that texts
        determine tokens."""
        messages = tuple(map(self._once, self._prompt.messages(context)))
        calls = tuple(sorted(context.calls))
        texts = [self.text(call) for call in calls]
        asked = [self._identity, FORM_VERSION, messages, texts, rule_data(self._rule)]
        return Draft(context, messages, calls, digest(asked))

    def begin(self, draft: Draft) -> Walk:
        """The decision with nothing asked.

        Raises `ModelError` for calls that the tokenizer does not tell apart, and for a prompt that is longer
        than the model's window.
        """
        prompt = self._backend.tokenizer.prompt(draft.messages)
        calls = tuple(map(self._offered, draft.calls))
        keys = Keys(self._around, prompt, calls)
        walk = Walk(draft, prompt, calls, Decoder(self._trie(calls), self._rule), keys)
        self._fits(walk)
        return walk

    def _once(self, message: Message) -> Message:
        """One object for a message that every prompt has: that of the system."""
        if message.role != "system":
            return message
        if len(self._shared) > 64:
            self._shared.clear()
        return self._shared.setdefault(message, message)

    def _offer(self, call: Call) -> Offered:
        text = self.text(call)
        return Offered(call, text, (*self._backend.tokenizer.text(text), self._backend.tokenizer.end))

    def _trie(self, calls: Sequence[Offered]) -> Trie:
        owner: dict[Tokens, Offered] = {}
        for offered in calls:
            other = owner.setdefault(offered.tokens, offered)
            if other is not offered:
                raise ModelError(
                    f"the tokenizer of {self._backend.name} maps the calls {other.call} and {offered.call} "
                    "to the same tokens; spell them differently"
                )
        return trie(tuple(offered.tokens for offered in calls))

    def _fits(self, walk: Walk) -> None:
        longest = len(walk.prompt) + max(len(offered.tokens) for offered in walk.calls)
        if longest > self._backend.window:
            raise ModelError(
                f"a context of {longest} tokens is longer than the window of {self._backend.name}, "
                f"{self._backend.window}; "
                "shorten the prompt, or show less with `view`"
            )


class Around(NamedTuple):
    """What stands around the calls and the prompt in the spelling of what a decision follows from: the model,
    the rule, and the version of what makes contexts canonical; and the spelling of the ``model``."""

    before: str
    between: str
    after: str
    model: str

    @classmethod
    def of(cls, identity: Mapping[str, str], rule: Rule) -> Around:
        """That of a model and a rule."""
        named = {"model": identity, "canonical": FORM_VERSION, **rule_data(rule)}
        parts = {name: spelled(part) for name, part in named.items()} | {"calls": "", "prompt": ""}
        whole = [(f'"{name}":', parts[name]) for name in sorted(parts)]
        texts = ["{"]
        for number, (name, part) in enumerate(whole):
            texts[-1] += f"{',' if number else ''}{name}{part}"
            if not part:
                texts.append("")
        before, between, after = texts
        return cls(before, between, f"{after}}}", parts["model"])


@lru_cache(maxsize=1 << 14)
def _spelled_call(text: str, tokens: Tokens) -> str:
    return spelled([text, tokens])


@dataclass(eq=False)
class Keys:
    """The keys of one decision: digests as of `digest`, of which the long parts are spelled once."""

    around: Around
    prompt: Tokens
    calls: Sequence[Offered]

    @cached_property
    def prompt_digest(self) -> str:
        """`digest(prompt)`."""
        return hashlib.sha256(self._spelled.encode()).hexdigest()

    @cached_property
    def decision(self) -> str:
        """The digest of model, prompt, calls, rule and the version of what makes contexts canonical."""
        before, between, after, _ = self.around
        calls = ",".join(_spelled_call(offered.text, offered.tokens) for offered in self.calls)
        return hashlib.sha256(f"{before}[{calls}]{between}{self._spelled}{after}".encode()).hexdigest()

    @cached_property
    def question(self) -> str:
        """What a worker claims: the model and the prompt, whatever is offered and by whichever rule."""
        return self._beginning.copy().hexdigest()

    def node(self, path: Tokens, allowed: Tokens) -> str:
        """`digest([identity, prompt, path, allowed])`."""
        whole = self._beginning.copy()
        whole.update(f",{spelled(path)},{spelled(allowed)}]".encode())
        return whole.hexdigest()

    @cached_property
    def _spelled(self) -> str:
        return spelled_tokens(self.prompt)

    @cached_property
    def _beginning(self) -> hashlib._Hash:
        return hashlib.sha256(f"[{self.around.model},{self._spelled}".encode())
