"""A verification whose every text is hostile, for what a report must not do with them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import MappingProxyType

import stead_sym as st
from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.replay import read_answers
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.evidence.moves import Move
from stead_sym.evidence.tree import Evaluated, Evidence, Node, Run
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.graphs import MOST_CONTEXTS

PAYLOADS = (
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    "</title></head><body onload=\"document.title='owned'\">",
    '"><img src=x onerror="document.title=\'owned\'">',
    "<svg onload=document.title='owned'>",
    "<a href=\"javascript:document.title='owned'\">here</a>",
    "</style><style>main{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<iframe src='https://example.org'></iframe>",
    "--><!-- ]]> &lt;b&gt; {{7*7}} ${7*7}",
    "\x00\x1b[31m\u202e right to left \ud800 alone",
)


def hostile() -> st.Verification:
    """A verification in which values, calls, specifications, reasons, findings, prompts, answers and agents
    are payloads."""
    refund = st.load("refund")
    result = st.verify(refund, refund.policy("baseline"))
    recorded = read_answers("smollm2")
    prompt = tuple(Message("user", payload) for payload in PAYLOADS)
    decisions = tuple(
        (st.DecisionContext(_instance(refund), frozenset({_call(p), *context.calls})), frozenset({_call(p)}))
        for p, (context, _) in product(PAYLOADS, result.decisions)
    )
    decisions *= 1 + MOST_CONTEXTS // len(decisions)  # no engine knows these contexts: nothing is to be drawn
    answers = tuple(replace(answer, prompt=prompt, key=PAYLOADS[0]) for answer in recorded[:4])
    run = replace(result.agents[""], agent=PAYLOADS[1], decisions=decisions, answers=answers)
    finding = st.verification.Finding("vacuous", None, " ".join(PAYLOADS), "`".join(PAYLOADS), PAYLOADS[0])
    verdicts = (
        replace(result["auth"], spec=PAYLOADS[0], evidence=_evidence(refund)),
        replace(result["prog"], spec=PAYLOADS[3], holds=None, reason=" ".join(PAYLOADS)),
    )
    return replace(
        result,
        agents=MappingProxyType({"": run}),
        findings=(finding,),
        verdicts=MappingProxyType({verdict.spec: verdict for verdict in verdicts}),
        moves=lambda state, step: Move(state, step, 2, 1, 2),
    )


def _call(payload: str) -> Call:
    return Call(payload, (payload,))


def _instance(deployment: st.Deployment) -> Instance:
    return Instance(deployment.schema, frozenset(Fact("RefundIssued", (payload,)) for payload in PAYLOADS))


def _evidence(deployment: st.Deployment) -> Evidence:
    formula = deployment.formula("EF exists t: task. RefundIssued(t)")
    body = deployment.formula("exists t: task. RefundIssued(t)")
    after = _instance(deployment)
    empty = Instance(deployment.schema, frozenset({Fact("RefundIssued", (PAYLOADS[6],))}))
    steps = tuple(Step(_call(payload), after if k % 2 else empty) for k, payload in enumerate(PAYLOADS))
    last = Node(body, True, steps[-1].state, {}, Evaluated())
    along = (*((Node(body, True, step.state, {}, Evaluated()),) for step in steps), (last,))
    return Evidence(Node(formula, True, after, {}, Run(steps, along, ends=len(steps))))
