"""The types of evidence as JSON.

`data` writes them, `reading` reads them, and the schema of the reports includes them. One decision: a fact or
a call is its name and the list of its values, never a text that would have to be parsed.
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
    """A JSON document. A field that is `UNSET` is left out."""

    def data(self) -> dict[str, Json]:
        """Return the document as data that `json` reads."""
        read: dict[str, Json] = json.loads(json.dumps(to_builtins(self)))
        return read


class Message(Document):
    """A message of a prompt."""

    role: str
    content: str


class UnforcedData(Document):
    """A comparison of a call with greedy decoding without the constraint.

    `agreed` of the `length` tokens of the call are the same. `token` and `text` are what is written instead
    of the next one. `logprob` is the log-probability of the whole call, null if it was not reported.
    """

    same: bool
    agreed: Count
    length: Count
    token: Count | None
    text: str
    logprob: float | None


class Weighed(Document):
    """The recorded properties of a decision by a language model.

    `key` is its key in the store, and `rule` the rule by which choices of the model count as possible.
    `margin` is the least lead in log-probability of the token taken. `mass` is the least probability of the
    offered calls at a branching node; `whole` is that of the offered calls over the whole selected call,
    forced tokens included. Each is null if all tokens were forced.

    `entropy` is the entropy over the offered calls, in bits; if some node was not visited, a lower bound.
    `covered` is the probability that sampling picks a selected call, null for greedy decoding. For an agent
    without log-probabilities, `asked` is the number of its queries, and `answers` the number of answers with
    each call.
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
    """The calls that an agent selects in a canonical context: the shown facts and the offered calls."""

    facts: list[Fact]
    offered: list[Call]
    selected: list[Call]


class AgentData(Document):
    """An agent with its decisions on the runs.

    `known` are the constants that it knows by name, with their sorts.
    """

    agent: str
    known: dict[str, str]
    decisions: list[DecisionData]


class StepData(Document):
    """A step of a run: the call, the agent (null for an event), and the number of the state after it.

    `offered` is the number of calls that the agent was offered, 0 for an event; it may make `selected` of
    them. `outcomes` is the number of states to which the call may lead, up to the names of fresh values; 100
    means 100 or more. `decision` is the number of the agent's decision. `names` maps the canonical names of
    the decision to those of the state.
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
    """A run, and the numbers of the claims about each of its states.

    The state that the operator requires is reached after `ends` steps, null: never. After the last step the
    run is in the state after `loop` steps, null: no loop.
    """

    steps: list[StepData]
    along: list[list[Count]]
    ends: Count | None
    loop: Count | None


class NodeData(Document, tag_field="because"):
    """A claim: the formula holds, or fails, in the state, with these values of its free variables."""

    formula: str
    holds: bool
    state: Count
    values: dict[str, str]


class EvaluatedData(NodeData, tag="evaluation"):
    """A claim shown by evaluation in the state."""


class UnshownData(NodeData, tag="all runs"):
    """A claim about all runs, which no finite evidence shows."""


class PartsData(NodeData, tag="parts"):
    """A claim about a connective: pairs of the number of a part, from 0, and of its claim."""

    parts: list[tuple[Count, Count]]


class ValuesData(NodeData, tag="values"):
    """A claim about a quantifier: its variable, and pairs of a value and its claim."""

    of: str
    nodes: list[tuple[str, Count]]


class PathData(NodeData, tag="run"):
    """A claim about a path quantifier, with the run that shows it."""

    run: RunData


AnyNode: TypeAlias = EvaluatedData | UnshownData | PartsData | ValuesData | PathData


class EvidenceData(Document, kw_only=True):
    """The evidence for a verdict: a tree of claims, the root first; each rests on later ones.

    `digest` is the digest of the deployment's text, behind its gates and without its specifications.
    `of_many`: there are other initial states. `completed`: the claims also count runs that enter a state from
    which no fair run starts, so that a finite run needs no fair continuation.

    `bounds` are those that its runs keep, if bounds were raised (`--deepen`). An agent that may select
    anything offered is null. `gates` are the gates that were in force, and
    `calls` is how agents call, if not as in the file. If states keep the last step and the
    past, `asked` are the sentences about these. States then have facts such as `once Paid(‹1›)` for the
    values ‹1› that satisfy it.
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
    calls: str | UnsetType = UNSET
    asked: list[str] | UnsetType = UNSET
    agents: dict[str, AgentData | None]
    states: list[list[Fact]]
    nodes: list[AnyNode]
