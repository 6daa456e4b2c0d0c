"""Decisions as JSON Lines, and the agent that replays such a file without a model.

The decision: a replay derives every selection again from the recorded log-probabilities, and a context that
the file lacks is an error, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from os.path import isfile
from pathlib import Path

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.plain import Plain, Texts, is_plain
from stead_sym.agents.records.answer import Answer, question
from stead_sym.agents.records.digest import digest, spelled
from stead_sym.agents.records.possible import Rule, Tokens
from stead_sym.deployment.tool import Call
from stead_sym.errors import StoreError

_LINES = ".jsonl"


def export_lines(answers: Iterable[Answer]) -> Iterator[str]:
    """Yield one line of JSON per decision: the record with the digest of its contents.

    A line has no line feed at the end.
    """
    for answer in answers:
        data = answer.data()
        yield spelled({**data, "digest": digest(data)})


def packaged_recordings() -> tuple[str, ...]:
    """Return the models whose decisions on the packaged examples come with the package."""
    names = [entry.name for entry in files("stead_sym.agents.records").joinpath("recorded").iterdir()]
    return tuple(sorted(name.removesuffix(_LINES) for name in names if name.endswith(_LINES)))


def read_answers(path: str | Path) -> list[Answer]:
    """Return the decisions in a file of JSON Lines, or the packaged ones of `packaged_recordings`.

    Raise `StoreError` for an invalid line, or one whose digest is wrong.
    """
    source = Path(path)
    if not isfile(source) and str(path) in packaged_recordings():
        source = Path(str(files("stead_sym.agents.records").joinpath("recorded", f"{path}{_LINES}")))
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        why = f"cannot be read ({error.strerror or error})"
        raise StoreError(
            f"{path}: {why}; name a file that `stead-sym models decisions export` wrote"
        ) from None
    except ValueError as error:  # bytes that are no text, or an invalid path
        raise StoreError(
            f"{path}: not a text file ({error}); name one of `stead-sym models decisions export`"
        ) from None
    return [_answer(f"{path}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]


class ReplayAgent:
    """An agent that replays the answers of a model, or of any recorded agent, from a file.

    It sends no queries, so its count of queries is 0.
    """

    def __init__(self, path: str | Path, prompt: Texts, rule: Rule | None = None) -> None:
        """Read the file.

        ``prompt`` is the model's; for an agent without a prompt it is ignored. ``rule`` None keeps the one
        with which the decisions were made.

        Raise `StoreError` if the file has the decisions of several models, two for one query, or decisions
        of several rules if ``rule`` is None.
        """
        self._path = str(path)
        self._rule = rule
        self._answers: dict[str, Answer] = {}
        self._given: dict[DecisionContext, Answer] = {}
        answers = read_answers(path)
        models = {digest({k: v for k, v in a.model.items() if k != "name"}): a.model for a in answers}
        if len(models) != 1:
            raise StoreError(
                f"{path}: decisions of {len(models)} models where one is wanted; export those of one model"
            )
        self._texts = Plain() if is_plain(answers[0].prompt) else prompt
        [model] = models.values()
        self.name = f"{model.get('name', 'a model')} (replayed)"
        said: dict[tuple[str, Tokens], Answer] = {}
        for answer in answers:
            other = self._answers.setdefault(answer.question, answer)
            alike = other.calls == answer.calls and (
                answer.rule is not None or other.selected == answer.selected
            )
            disagreeing = [] if alike else [other]
            for branching in answer.branchings:
                earlier = said.setdefault((answer.question, branching.path), answer)
                if branching not in earlier.branchings:
                    disagreeing.append(earlier)
            if disagreeing:
                keys = f"{disagreeing[0].key[:12]} and {answer.key[:12]}"
                raise StoreError(f"{path}: decisions {keys} are two answers to one question; keep one")
            kept = self._answers[answer.question]
            if (len(answer.selected), len(answer.branchings)) > (len(kept.selected), len(kept.branchings)):
                self._answers[answer.question] = answer
        rules = sorted({str(answer.rule) for answer in answers if answer.rule is not None})
        if rule is None and len(rules) > 1:
            raise StoreError(
                f"{path}: decisions that were selected in {len(rules)} ways ({'; '.join(rules)}); say which"
                " one is meant, with --tolerance (0 is greedily) or --min-probability, in Python with `rule`"
            )

    @property
    def queries(self) -> int:
        """The number of queries to a model, 0."""
        return 0

    def answer(self, context: DecisionContext) -> Answer | None:
        """Return the record of a selection."""
        return self._given.get(context)

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """Return the recorded selections; raise `StoreError` for a context that the file lacks."""
        return [self._select(context) for context in contexts]

    def _select(self, context: DecisionContext) -> frozenset[Call]:
        calls = sorted(context.calls)
        texts = [self._texts.call_text(call) for call in calls]
        answer = self._answers.get(question(self._texts.messages(context), texts))
        if answer is None:
            prompt = "" if isinstance(self._texts, Plain) else " under this prompt"
            raise StoreError(
                f"{self._path}: no decision for {context}{prompt}; verify with the model and export again"
            )
        if [offered.call for offered in answer.calls] != calls:
            raise StoreError(
                f"{self._path}: decision {answer.key[:12]} has other calls under the texts of those offered;"
                " restore the line"
            )
        rule = self._rule or answer.rule
        if rule is None:
            self._given[context] = answer
            return answer.selected
        try:
            given = self._given[context] = answer.under(rule)
        except StoreError as error:
            raise StoreError(
                f"{self._path}: decision {answer.key[:12]} does not reach as far as selecting {rule}:"
                f" {error.message}; verify with the model in that way"
            ) from None
        return given.selected


def _answer(place: str, line: str) -> Answer:
    try:
        data = json.loads(line)
        recorded = data.pop("digest", None) if isinstance(data, dict) else None
        intact = recorded == digest(data)
    except (ValueError, RecursionError):
        raise StoreError(
            f"{place}: not JSON, or nested without end; restore the line, or name a file that"
            " `stead-sym models decisions export` wrote"
        ) from None
    if not intact:
        raise StoreError(f"{place}: the decision is corrupt (its digest does not match); restore the line")
    try:
        return Answer.from_data(data)
    except StoreError as error:
        raise StoreError(f"{place}: {error.message}; restore the line") from None
