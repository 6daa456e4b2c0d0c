"""The types of evidence as JSON: `data` writes them, `reading` reads them, and the schema of the reports has
them.

One decision: a fact or a call is the name and the list of the values, never a text that would have to be
taken apart.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Count: TypeAlias = Annotated[int, Meta(ge=0)]

FORMAT: Literal["stead-sym evidence 2"] = "stead-sym evidence 2"


class Document(Struct, forbid_unknown_fields=True):
    """What is written as JSON. A part of it that is `UNSET` is left out."""

    def data(self) -> dict[str, Json]:
        """The document as `json` reads it."""
        read: dict[str, Json] = json.loads(json.dumps(to_builtins(self)))
        return read


class Message(Document):
    """A message of a prompt."""

    role: str
    content: str


class UnforcedData(Document):
    """How many tokens of a call greedy decoding writes without the constraint, and what instead of the next;
    `logprob` is that of the whole call, null where it was not told."""

    same: bool
    agreed: Count
    length: Count
    token: Count | None
    text: str
    logprob: float | None


class Weighed(Document):
    """What is known of a decision that a language model took.

    `key` is its key in the store; `rule` says which of the model's choices count as possible. `margin` is the
    least lead in log-probability of the token taken, `mass` the least probability of the offered calls at a
    branching node, `whole` that on the offered calls over the whole selected call, forced tokens too; each is
    null where all tokens were forced. `entropy` is that over the offered calls, in bits; where not every node
    was visited, at least so much. `covered` is the probability that sampling picks a selected call, null for
    greedy decoding. Of an agent without log-probabilities, which was `asked` so often, `answers` says how
    often each call was in an answer.
    """

    key: str | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    margin: float | UnsetType | None = UNSET
    mass: float | UnsetType | None = UNSET
    whole: float | UnsetType | None = UNSET
    entropy: float | UnsetType = UNSET
    covered: float | UnsetType | None = UNSET
    unforced: UnforcedData | UnsetType | None = UNSET
    asked: Count | UnsetType = UNSET
    answers: dict[str, Count] | UnsetType = UNSET
    prompt: list[Message] | UnsetType = UNSET


class DecisionData(Weighed, kw_only=True):
    """What an agent selects in a canonical context: the shown facts and the offered calls."""

    facts: list[Fact]
    offered: list[Call]
    selected: list[Call]


class AgentData(Document):
    """An agent with what it decided on the runs; `known` are the constants that it knows by name, with their
    sorts."""

    agent: str
    known: dict[str, str]
    decisions: list[DecisionData]


class StepData(Document):
    """A step of a run: the call, who makes it (null: an event) and the number of the state that it leads to.

    Its agent was `offered` so many calls, 0 for an event, and may make the `selected` ones. The call may lead
    to so many `outcomes`, up to the names of fresh values, 100 meaning 100 or more. `decision` is the number
    of the decision of the agent, and `names` go from the canonical names of the decision to those of the
    state.
    """

    call: Call
    agent: str | None
    to: Count
    offered: Count
    selected: Count
    outcomes: Count
    decision: Count | UnsetType = UNSET
    names: dict[str, str] | UnsetType = UNSET


class RunData(Document):
    """A run, and the numbers of the claims about each of its states. What is waited for comes after `ends`
    steps, null: never. After the last step the run is where it was after `loop` steps, null: no loop."""

    steps: list[StepData]
    along: list[list[Count]]
    ends: Count | None
    loop: Count | None


class NodeData(Document, tag_field="because"):
    """A claim: that the formula holds, or does not, in the state, with these values of its free variables."""

    formula: str
    holds: bool
    state: Count
    values: dict[str, str]


class EvaluatedData(NodeData, tag="evaluation"):
    """By evaluation in the state."""


class UnshownData(NodeData, tag="all runs"):
    """By all runs, which no evidence of finite size shows."""


class PartsData(NodeData, tag="parts"):
    """Of a connective: pairs of the number of a part, from 0, and of its claim."""

    parts: list[tuple[Count, Count]]


class ValuesData(NodeData, tag="values"):
    """Of a quantifier: its variable, and pairs of a value and its claim."""

    of: str
    nodes: list[tuple[str, Count]]


class PathData(NodeData, tag="run"):
    """Of a path quantifier: the run that shows it."""

    run: RunData


AnyNode: TypeAlias = EvaluatedData | UnshownData | PartsData | ValuesData | PathData


class EvidenceData(Document, kw_only=True):
    """The evidence for a verdict, a tree of claims, the root first; each rests on later ones.

    `digest` is that of the text of the deployment without its specifications. `of_many`: there are other
    initial states. `completed`: the claims are about the fair runs and those that enter a state from which no
    fair run starts, so that a finite run shows what it shows, whatever follows. `bounds` are what its runs
    keep, where bounds were raised (`--deepen`). An agent that may select anything offered is null.
    `gates` are those that the agents were behind, and `digest` is that of the deployment behind them.
    Where states keep the last step and the past, `asked` are the sentences about these that were asked, and
    states have facts such as `once Paid(‹1›)` for the values ‹1› of which that is true.
    """

    format: Literal["stead-sym evidence 2"] = FORMAT
    deployment: str
    digest: str
    spec: str
    formula: str
    holds: bool
    of_many: bool
    completed: bool = False
    bounds: dict[str, Count] | UnsetType = UNSET
    gates: list[str] | UnsetType = UNSET
    asked: list[str] | UnsetType = UNSET
    agents: dict[str, AgentData | None]
    states: list[list[Fact]]
    nodes: list[AnyNode]
