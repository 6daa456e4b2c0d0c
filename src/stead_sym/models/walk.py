"""A decision in progress: its prompt as tokens, its calls as a trie, and the keys of its queries.

The decision: a key is the digest of everything that determines an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.agents.records.answer import Offered
from stead_sym.agents.records.digest import digest, digest_text, joined, spelled, spelled_tokens
from stead_sym.agents.records.possible import Rule, Tokens, rule_data
from stead_sym.agents.records.trie import Decoder, Trie, trie
from stead_sym.deployment.tool import Call
from stead_sym.errors import ModelError
from stead_sym.models.backend import Backend
from stead_sym.relational.canonical import FORM_VERSION


@dataclass(eq=False)
class Draft:
    """A decision before tokenization: its query as texts, with the ``key`` of these."""

    context: DecisionContext
    messages: tuple[Message, ...]
    calls: tuple[Call, ...]
    key: str


@dataclass(eq=False)
class Walk:
    """A decision in progress; ``sent`` has the keys of the queried nodes."""

    draft: Draft
    prompt: Tokens
    calls: tuple[Offered, ...]
    decoder: Decoder
    keys: Keys
    sent: dict[Tokens, str] = field(default_factory=dict)
    asked: bool = False


class Walks:
    """A factory of walks for one model, prompt and rule."""

    def __init__(self, backend: Backend, prompt: Prompt, rule: Rule) -> None:
        self._backend = backend
        self._prompt = prompt
        self._rule = rule
        self._identity = dict(backend.identity)
        self._spelled = spelled(self._identity)
        self._shared: dict[Message, Message] = {}
        self._offered = lru_cache(maxsize=1 << 14)(self._offer)
        self.text = lru_cache(maxsize=1 << 14)(prompt.call_text)

    def draft(self, context: DecisionContext) -> Draft:
        """Return the query for a context.

        The identity of a model includes its tokenizer's, so the texts determine the tokens.
        """
        messages = tuple(map(self._once, self._prompt.messages(context)))
        calls = tuple(sorted(context.calls))
        texts = [self.text(call) for call in calls]
        asked = [self._identity, FORM_VERSION, messages, texts, rule_data(self._rule)]
        return Draft(context, messages, calls, digest(asked))

    def begin(self, draft: Draft) -> Walk:
        """Return the decision before any query.

        Raise `ModelError` for calls that the tokenizer does not distinguish, and for a prompt that exceeds
        the model's window.
        """
        prompt = self._backend.tokenizer.prompt(draft.messages)
        calls = tuple(map(self._offered, draft.calls))
        keys = Keys(self._spelled, self._rule, prompt, calls)
        walk = Walk(draft, prompt, calls, Decoder(self._trie(calls), self._rule), keys)
        self._fits(walk)
        return walk

    def _once(self, message: Message) -> Message:
        """Return a shared object for the system message, which every prompt has."""
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


@lru_cache(maxsize=1 << 14)
def _spelled_call(text: str, tokens: Tokens) -> str:
    return spelled([text, tokens])


class Keys:
    """The keys of one decision: digests as by `digest`, with the prompt's tokens spelled only once."""

    def __init__(self, identity: str, rule: Rule, prompt: Tokens, calls: Sequence[Offered]) -> None:
        """Compute the digests; ``identity`` is the model's, as `spelled`."""
        self._identity = identity
        self._prompt = spelled_tokens(prompt)
        self.prompt_digest = digest_text(self._prompt)
        followed_from = {
            "model": identity,
            "canonical": spelled(FORM_VERSION),
            "prompt": self._prompt,
            "calls": joined([_spelled_call(offered.text, offered.tokens) for offered in calls]),
            **{name: spelled(part) for name, part in rule_data(rule).items()},
        }
        self.decision = digest_text(joined(followed_from))

    @cached_property
    def question(self) -> str:
        """The key that a worker claims: the model and the prompt, independent of the offer and the rule."""
        return digest_text(f"[{self._identity},{self._prompt}")

    def node(self, path: Tokens, allowed: Tokens) -> str:
        """Return `digest([identity, prompt, path, allowed])`."""
        return digest_text(joined([self._identity, self._prompt, spelled(path), spelled(allowed)]))
