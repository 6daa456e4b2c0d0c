"""A language model as a base agent: a prompt, decoding constrained to the offered calls, and a store.

The decision: an agent keeps its selections and the latest decision records in memory. Older records are read
from the store again, so that memory does not grow with every prompt.
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
"""The maximum number of records in memory, of some 4 KB each."""


class ModelAgent:
    """A base agent: a language model behind a prompt, with a store of its decisions.

    ``rule`` determines the possible calls: by default the greedy choice, so that every context has one
    selected call. With ``weigh`` the model is also asked, once per decision, for its unconstrained output, if
    the backend supports it (`Unconstrained`); the selection does not depend on it.

    An agent is thread-safe, and several agents and processes may share a store: a query in progress in one of
    them is awaited by the others.
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
        """The name of the backend."""
        return self.backend.name

    @property
    def queries(self) -> int:
        """The number of contexts that were not answered from the store."""
        return self._queries

    @property
    def requests(self) -> int:
        """The number of branching nodes for which the model was queried."""
        return self._requests

    def report_to(self, progress: Progress | None) -> None:
        """Report progress to a callback; see `base.Reporting`.

        The counts are decided contexts, messages that were sent again, and contexts in progress in another
        worker on the same store.
        """
        self._progress = progress

    def answer(self, context: DecisionContext) -> Answer | None:
        """Return the record of a selection made by this object."""
        if context not in self._selected:
            return None
        return self._latest.get(context) or self.store.get(self._selected[context][1])

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """Return the calls that the rule makes possible, from the store if it has them.

        Raise `ModelError` for calls that the tokenizer does not distinguish and for a context that exceeds
        the model's window, `StoreError` for a corrupt store, and any error of the backend. Answers before an
        error are in the store.
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
