"""A language model as a base agent: prompts in, decoding inside the offered calls, a store in front.

The decision: an agent keeps what it selected and the records of the latest decisions; older records are read
from the store again, so that its memory does not grow with every prompt that was ever put.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.possible import Greedy, Rule
from stead_sym.agents.records.store import Store
from stead_sym.deployment.tool import Call
from stead_sym.models.backend import Backend
from stead_sym.models.pipeline import Pipeline, State
from stead_sym.support.progress import Progress

_MAX_RECORDS_IN_MEMORY = 20_000
"""How many records are kept in memory, of some 4 KB each."""


class ModelAgent:
    """A language model behind a prompt, with a store of its decisions in front: a base agent.

    ``rule`` says which calls are possible: the greedy choice by default, so that every context has one
    selected call. With ``weigh`` the model is also asked, once per decision, what it would write if nothing
    constrained it, where the backend can tell (`Unconstrained`); nothing is selected by that.

    Several threads may ask one agent, and several agents and processes may share a store: what one of them
    is asking, another waits for.
    """

    def __init__(
        self,
        backend: Backend,
        prompt: Prompt,
        store: Store | None = None,
        rule: Rule | None = None,
        *,
        weigh: bool = True,
    ) -> None:
        self.backend = backend
        self.prompt = prompt
        self.store = Store() if store is None else store
        self.rule = Greedy() if rule is None else rule
        self.weigh = weigh
        self._progress: Progress | None = None
        self._counting = threading.Lock()
        self._queries = 0
        self._requests = 0
        self._selected: dict[DecisionContext, tuple[frozenset[Call], str]] = {}
        self._latest: dict[DecisionContext, Answer] = {}

    @property
    def name(self) -> str:
        return self.backend.name

    @property
    def queries(self) -> int:
        """The number of contexts that the store did not answer."""
        return self._queries

    @property
    def requests(self) -> int:
        """The number of branching nodes that the model was asked about."""
        return self._requests

    def report_to(self, progress: Progress | None) -> None:
        """See `base.Reporting`: contexts decided, messages that had to be sent again, and contexts that
        another worker on the same store is asking about."""
        self._progress = progress

    def answer(self, context: DecisionContext) -> Answer | None:
        """The record of a selection made by this object."""
        if context not in self._selected:
            return None
        return self._latest.get(context) or self.store.get(self._selected[context][1])

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """The calls that the rule makes possible, from the store where it knows.

        Raises `ModelError` for calls that the tokenizer does not tell apart and for a context that is
        longer than the model's window, `StoreError` for a store that is not sound, and whatever the backend
        raises. What was answered before an error is in the store.
        """
        new = [context for context in dict.fromkeys(contexts) if context not in self._selected]
        if new:
            pipeline = Pipeline(self.backend, self.prompt, self.store, self.rule, weigh=self.weigh)
            try:
                for context, answer in pipeline.decided(new, self._report):
                    self._keep(context, answer)
            finally:
                with self._counting:
                    self._queries += pipeline.queries
                    self._requests += pipeline.requests
        return [self._selected[context][0] for context in contexts]

    def _report(self, state: State) -> None:
        if self._progress is not None:
            more = {"retries": state.again, "left to others": state.elsewhere}
            told = {name: number for name, number in more.items() if number}
            self._progress(f"asking {self.name}", contexts=state.decided, of=state.of, **told)

    def _keep(self, context: DecisionContext, answer: Answer) -> None:
        self._selected[context] = answer.selected, answer.key
        with self._counting:
            self._latest[context] = answer
            if len(self._latest) > _MAX_RECORDS_IN_MEMORY:
                del self._latest[next(iter(self._latest))]
