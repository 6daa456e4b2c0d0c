"""Careless input through the Python functions gives one clear sentence, never a silent other answer."""

from __future__ import annotations

import re

import pytest

import stead_sym as st
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.cli.main import main
from stead_sym.logic import compose
from stead_sym.testing.byte_model import ByteModel

desk = st.load("refund")
other = st.parse_deployment(str(desk).replace("call issue_refund(t)", "call issue_refund(t) when false"))


def one_sentence(error: BaseException, says: str) -> None:
    message = str(error)
    assert re.search(says, message), message
    assert "\n" not in message


class Undecided:
    """An agent that answers a whole batch with nothing."""

    name = "undecided"

    def select(self, contexts: list[DecisionContext]) -> None:
        return None


class Lazy(Undecided):
    """An agent whose answers come one by one."""

    def select(self, contexts):
        return (context.calls for context in contexts)


AGENTS = {
    "None": (lambda context: None, st.AgentError, r"answers None, which is no collection of calls; ret"),
    "text": (lambda context: "ingest_case()", st.AgentError, r"answers 'ingest_case\(\)', which is no coll"),
    "a pair": (lambda context: ("ingest_case", ()), st.AgentError, r"answers \('ingest_case', \(\)\), which"),
    "pairs": (lambda context: [("ingest_case", ())], st.AgentError, r"which is no collection of calls"),
    "a mapping": (lambda context: {"tool": "x"}, st.AgentError, r"which is no collection of calls"),
    "a number": (lambda context: 3, st.AgentError, r"answers 3, which is no collection of calls"),
    "nothing": (
        lambda context: [], st.AgentError, r"selects nothing for .*; return at least one offered call"
    ),
    "not offered": (
        lambda context: st.Call("pay", ()), st.AgentError, r"selects pay\(\) for .*; return offered"
    ),
    "a list for arguments": (
        lambda context: st.Call("ingest_case", []), st.AgentError, r"which is no collection of calls"
    ),
    "no answers": (
        Undecided(), st.AgentError, r"agent undecided answers None to a list of contexts; return one"
    ),
    "answers one by one": (Lazy(), st.AgentError, r"to a list of contexts; return one answer for each"),
    "a class": (Undecided, TypeError, r"the agent is the class Undecided; give an object of it"),
    "no agent": (3, TypeError, r"3 is no agent; give a policy, a function of a context, or `any`"),
    "no agent at all": (None, TypeError, r"None is no agent"),
    "a name": ("bold", st.errors.DeclarationError, r"unknown policy bold; there are baseline, approving"),
    "a typo": ("baselin", st.errors.DeclarationError, r"unknown policy baselin; did you mean baseline\?"),
    "another deployment's policy": (
        other.policy("baseline"), st.errors.DeclarationError, r"policy baseline given is another than"
    ),
    "another schema's wrapper": (
        CanonicalWrapper(st.agents.Everything(), st.relational.Schema((), ()), ()),
        st.InputError,
        r"of another schema than",
    ),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize("case", AGENTS)
def test_what_is_no_agent_or_no_answer(case: str, engine: str) -> None:
    agent, kind, says = AGENTS[case]
    with pytest.raises(kind) as caught:
        st.verify(desk, agent, engine=engine)
    one_sentence(caught.value, says)


def test_a_policy_may_be_given_by_its_name() -> None:
    by_name, itself = (st.verify(desk, agent) for agent in ("baseline", desk.policy("baseline")))
    assert str(by_name) == str(itself)
    assert by_name.agent == "baseline"
    assert list(st.verify(desk, "baseline", "auth").verdicts) == ["auth"]


ARGUMENTS = {
    "an engine": ({"engine": "foo"}, st.InputError, r"unknown engine 'foo'; there are symbolic, explicit"),
    "an engine, misspelt": ({"engine": "symbolc"}, st.InputError, r"did you mean symbolic\?"),
    "a domain": ({"domain": "foo"}, st.InputError, r"unknown domain 'foo'; there are normal, theorem"),
    "a domain that is a number": ({"domain": 5}, st.InputError, r"unknown domain 5; there are"),
    "a backend": ({"backend": "foo"}, st.InputError, r"unknown backend 'foo'; there are cudd, autoref"),
    "a backend that is not used": (
        {"engine": "explicit", "backend": "cudd"}, st.InputError, r"backend is that of the symbolic engine"
    ),
    "a limit that is not used": ({"max_states": 9}, st.InputError, r"only the explicit engine counts states"),
    "a limit of none": (
        {"engine": "explicit", "max_states": 0}, st.InputError, r"max_states must be .* at least 1, got 0"
    ),
    "a limit in words": ({"engine": "explicit", "max_states": "9"}, st.InputError, r"at least 1, got '9'"),
    "a size in words": (
        {"domain": {"case": "5"}}, st.errors.RestrictionError, r"domain case='5' is no whole number"
    ),
    "a size in parts": (
        {"domain": {"case": 4.5}}, st.errors.RestrictionError, r"domain case=4.5 is no whole number"
    ),
    "a size of no sort": (
        {"domain": {"cases": 5}}, st.errors.RestrictionError, r"cases: there is no such sort"
    ),
    "a size past all": (
        {"domain": {"case": 10**9}}, st.errors.RestrictionError, r"more than can be explored; 3 suff"
    ),
    "a specification": (
        {"specs": ["aut"]}, st.errors.DeclarationError, r"unknown spec aut; did you mean auth\?"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_that_nothing_would_heed(case: str) -> None:
    options, kind, says = ARGUMENTS[case]
    with pytest.raises(kind) as caught:
        st.verify(desk, "any", **options)
    one_sentence(caught.value, says)
    if options.keys() <= {"domain", "backend", "specs"}:
        with pytest.raises(kind) as caught:
            st.explain(desk, **options)
        one_sentence(caught.value, says)


def test_progress_that_cannot_be_called() -> None:
    with pytest.raises(TypeError, match="'x' is nothing to call with progress; give a function"):
        st.verify(desk, "any", progress="x")


def test_a_deployment_that_is_a_name() -> None:
    with pytest.raises(TypeError, match="'refund' is no deployment; `load` takes a file or the name"):
        st.verify("refund")


QUESTIONS = {
    "a value that is not there": (
        "RefundIssued(t)", {"t": "task9"}, r"task9, given for t, is no value of the"
    ),
    "a value, misspelt": ("RefundIssued(t)", {"t": "taks1"}, r"did you mean task1\?"),
    "a value of another sort": ("RefundIssued(t)", {"t": "case1"}, r"t is of sort case, but .* task"),
    "no value": ("RefundIssued(t)", {}, r"unknown name t"),
    "no value for a variable": (
        st.logic.Atom("RefundIssued", (st.logic.Var("t"),)), None, r"no binder declares the variable t"
    ),
    "a variable that is not there": (
        "RefundIssued(t)", {"t": "task1", "u": "task1"}, r"u is no free variable of"
    ),
    "a bound variable": (
        "exists t: task. RefundIssued(t)", {"t": "task1"}, r"t is no free variable of the form"
    ),
    "a number": ("RefundIssued(t)", {"t": 1}, r"1, given for t, is no value of the domain"),
    "a list": ("RefundIssued(t)", {"t": ["task1"]}, r"given for t, is no value of the domain"),
    "no formula": (True, {}, r"True is no formula"),
    "a relation, misspelt": ("RefundIsued(t)", {"t": "task1"}, r"did you mean RefundIssued\?"),
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"domain": "theorem"}, {"engine": "explicit"}])
@pytest.mark.parametrize("case", QUESTIONS)
def test_questions_that_cannot_be_meant(case: str, options: dict[str, str]) -> None:
    formula, assignment, says = QUESTIONS[case]
    result = st.verify(desk, "baseline", (), **options)
    with pytest.raises((st.SteadError, TypeError)) as caught:
        result.satisfying(formula, assignment)
    one_sentence(caught.value, says)


@pytest.mark.parametrize("options", [{}, {"domain": "theorem"}, {"engine": "explicit"}])
def test_whether_a_state_is_among_the_satisfying(options: dict[str, str]) -> None:
    """Any instance may be asked about, one with facts that no state has among them."""
    result = st.verify(desk, "baseline", (), **options)
    states = result.satisfying("true")
    assert desk.init in states
    for facts in (
        [],
        [st.relational.Fact("Approver", ("s1", "a1"))],
        [*desk.init, st.relational.Fact("RefundIssued", ("unheard",))],
        [
            *desk.init,
            st.relational.Fact("CaseStatus", ("case1", "open")),
            st.relational.Fact("CaseStatus", ("case1", "resolved")),
        ],
        [*desk.init, st.relational.Fact("Approver", ("s1", "s1"))],
    ):
        assert st.Instance.of(desk.schema, facts) not in states


BODIES = (True, None, 3, "P(x)", ["P"], st.logic.Var("x"))


@pytest.mark.parametrize("body", BODIES, ids=str)
def test_what_is_no_formula_is_not_composed(body: object) -> None:
    p = st.logic.atom("P", "x")
    wrong = [
        *(lambda q=q: q("x: foo", body) for q in (st.logic.forall, st.logic.exists)),
        *(lambda c=c: c(2, "x", body) for c in (st.logic.atleast, st.logic.atmost, st.logic.exactly)),
        *(
            lambda op=op: op(body)
            for op in (st.logic.AX, st.logic.EX, st.logic.AF, st.logic.EF, st.logic.AG, st.logic.EG)
        ),
        *(
            lambda op=op: op(body, p)
            for op in (st.logic.AU, st.logic.EU, st.logic.AW, st.logic.EW, st.logic.iff)
        ),
        *(
            lambda op=op: op(p, body)
            for op in (st.logic.AU, st.logic.EU, st.logic.AW, st.logic.EW, st.logic.iff)
        ),
        *(lambda f=f: f(body) for f in (compose.as_formula,)),
        lambda: p & body,
        lambda: p | body,
        lambda: p >> body,
        lambda: st.build_deployment("d", sorts={"s": None}, relations={}, fair=[body]),
    ]
    for compose_it in wrong:
        if body == "P(x)" and compose_it is wrong[-1]:
            continue  # text is a formula there
        with pytest.raises(TypeError) as caught:
            compose_it()
        one_sentence(caught.value, r"is no formula|unsupported operand")


@pytest.mark.parametrize(
    "compose_it",
    [
        lambda: st.logic.atom(3),
        lambda: st.logic.atom("P", 3.5),
        lambda: st.logic.atom("P", ["x"]),
        lambda: st.logic.equal("x", None),
        lambda: st.logic.same(None),
        lambda: st.logic.empty(3),
        lambda: st.logic.forall(3, st.logic.TRUE),
        lambda: st.logic.forall(["x"], st.logic.TRUE),
        lambda: st.logic.atleast("2", "x", st.logic.TRUE),
        lambda: st.logic.atleast(True, "x", st.logic.TRUE),
        lambda: st.logic.exactly(1.5, "x", st.logic.TRUE),
    ],
)
def test_names_and_numbers_are_such(compose_it) -> None:
    with pytest.raises(TypeError) as caught:
        compose_it()
    one_sentence(caught.value, r"is no text where a name|counts to a whole number")


@pytest.mark.parametrize("odd", [None, 3, True, ["x"], {}, ("a",), object])
def test_parts_of_another_kind_are_refused(odd, tmp_path, monkeypatch) -> None:
    """Where they are put in, and nothing is made of them: no file of that name, no tool, no sort."""
    monkeypatch.chdir(tmp_path)

    def build(**parts):
        return st.build_deployment("d", **{"sorts": {"a": None}, "relations": {"P": "a"}, **parts})

    wrong = {
        "text": lambda: st.parse_deployment(odd),
        "formula": lambda: st.logic.parse_formula(odd),
        "deployment": lambda: st.explain(odd),
        "effect": lambda: st.tool("w", effect=[odd]),
        "tool": lambda: st.tool(odd),
        "parameters": lambda: st.tool("w", odd),
        "tools": lambda: build(tools=[odd]),
        "init": lambda: build(init=[odd]),
        "specs": lambda: build(specs={"s": odd}),
        "bounds": lambda: build(bounds={"a": odd}),
        "rules": lambda: build(policies={"p": [odd]}),
        "sort": lambda: build(sorts={3: None}),
        "columns": lambda: build(relations={"P": [odd]}),
        "name": lambda: st.build_deployment(odd, sorts={}, relations={}),
        "fact": lambda: st.Instance.of(desk.schema, [odd]),
        "arguments": lambda: st.Instance.of(desk.schema, [("RefundIssued", (odd,))]),
        "store": lambda: st.Store(odd),
    }
    meant = {"bounds": 3, "store": None}
    for what, make in wrong.items():
        if what in meant and meant[what] is odd:
            continue
        with pytest.raises(TypeError) as caught:
            make()
        assert "\n" not in str(caught.value), what
    assert not list(tmp_path.iterdir())


def test_each_run_with_one_wrapper_has_its_own_counts() -> None:
    asked = []

    def agent(context: DecisionContext) -> st.Call:
        asked.append(context)
        return min(context.calls)

    wrapper = CanonicalWrapper(st.agents.FunctionAgent(agent), desk.schema, desk.tools)
    first = st.verify(desk, wrapper)
    assert first.queries == first.contexts == len(first.decisions) == len(asked) > 0
    second = st.verify(desk, wrapper)
    assert (second.queries, len(asked)) == (0, first.queries)
    assert (second.contexts, second.decisions) == (first.contexts, first.decisions)
    bare = [line.split(", ")[0] for line in (first.summary, second.summary)]
    assert bare[0] == bare[1]
    explicit = st.verify(desk, wrapper, engine="explicit")
    assert (explicit.queries, explicit.contexts) == (0, first.contexts)


def test_a_second_run_of_one_model_counts_its_own_queries() -> None:
    model = st.ModelAgent(ByteModel(), st.Prompt.of(desk))
    first, second = st.verify(desk, model), st.verify(desk, model)
    assert first.queries == first.contexts > 0
    assert (second.queries, second.contexts) == (0, first.contexts)
    assert second.answers == first.answers


def test_the_command_names_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund", "--policy", "baselin"]) == 2
    assert capsys.readouterr().err == "stead-sym: unknown policy baselin; did you mean baseline?\n"
