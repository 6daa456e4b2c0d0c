"""Recorded agents: what any Python function or object gets that a language model has."""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import math
import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest

import stead_sym as st
from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.prompts.plain import Plain
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.recorded import EVERY, TIMES
from stead_sym.agents.records.replay import export_lines
from stead_sym.report.data import report_data

desk = st.load("refund")
prompt = Prompt.of(desk)
INSTANCE = st.Instance.of(desk.schema, [("Approver", ("a", "b"))])


def offering(*names):
    """A context that offers an approval of each of these tasks."""
    return DecisionContext(INSTANCE, frozenset(st.Call("issue_refund", (name,)) for name in names))


MANY = [offering(f"t{number}", f"u{number}") for number in range(40)]
ONE = offering("t")


def first(context):
    return min(context.calls)


def last(context):
    return max(context.calls)


def unlike(seed=None):
    """A function that picks at random."""
    dice = random.Random(seed)
    return lambda context: dice.choice(sorted(context.calls))


def recorded(function, **options):
    return st.agent(**{"identity": "test", "store": st.Store(), "probe": False, **options})(function)


def threads():
    """The package's threads that are still there; one that is about to end is given a moment for it."""
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("stead-sym")]
    for thread in ours:
        thread.join(0.5)
    return {thread for thread in ours if thread.is_alive()}


def test_the_same_verdicts_as_without_a_record():
    plain = st.verify(desk, FunctionAgent(first))
    agent = recorded(first)
    result = st.verify(desk, agent)
    assert result.agent == "test"
    assert [v.holds for v in result.verdicts.values()] == [v.holds for v in plain.verdicts.values()]
    assert (result.states, result.decisions) == (plain.states, plain.decisions)
    assert result.queries == result.contexts == len([*agent.store.answers()])
    again = st.verify(desk, recorded(last, store=agent.store))
    assert (again.queries, again.decisions) == (0, result.decisions), "the stored answers answer"
    other = st.verify(desk, recorded(last, store=agent.store, identity="other"))
    assert other.queries > 0
    assert other.decisions != result.decisions
    assert agent(ONE) == min(ONE.calls), "it can still be called"


def test_answers_are_kept_in_a_file(tmp_path):
    store = tmp_path / "decisions.sqlite"
    assert st.verify(desk, recorded(first, store=store)).queries == 4
    assert st.verify(desk, recorded(first, store=store)).queries == 0
    assert st.verify(desk, recorded(first, store=store, samples=2)).queries == 4, "asked in another way"


def test_by_default_the_store_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    agent = st.agent(identity="mine")(first)
    assert not [*tmp_path.iterdir()], "nothing is opened before it is needed"
    agent.select([ONE])
    assert st.agent(identity="mine")(first).select([ONE]) == [frozenset(ONE.calls)]
    with st.Store(tmp_path / "stead-sym" / "decisions.sqlite", create=False) as store:
        assert [answer.model["identity"] for _, answer in store.answers()] == ["mine"]


class Clerk:
    """An object with a method, one that can be called, and one that answers in batches."""

    name = "clerk"

    def pick(self, context):
        return first(context)

    def __call__(self, context):
        return first(context)

    def select(self, contexts):
        return [{first(context)} for context in contexts]


class AsyncClerk:
    async def __call__(self, context):
        await asyncio.sleep(0)
        return first(context)


class BatchClerk:
    name = "batch"

    def select(self, contexts):
        return [{first(context)} for context in contexts]


async def first_async(context):
    await asyncio.sleep(0)
    return [first(context)]


@pytest.mark.parametrize(
    "function",
    [
        first,
        first_async,
        Clerk().pick,
        Clerk(),
        AsyncClerk(),
        BatchClerk(),
        functools.partial(lambda key, context: min(context.calls, key=key), str),
        functools.partial(first_async),
        lambda context: st.Given((first(context),), "because"),
    ],
)
def test_functions_and_objects(function):
    agent = recorded(function)
    assert agent.select(MANY) == [{first(context)} for context in MANY]
    assert agent.queries == len(MANY)
    assert agent.select(MANY[:3]) == [{first(context)} for context in MANY[:3]]
    assert agent.queries == len(MANY)


@pytest.mark.parametrize("given", [Clerk, 3, None])
def test_what_is_no_agent(given):
    with pytest.raises(TypeError, match="no agent"):
        recorded(given)


def test_an_identity_is_wanted():
    with pytest.raises(TypeError, match=r"argument: 'identity'"):
        st.agent(first)
    with pytest.raises(TypeError, match="identity"):
        st.agent()
    with pytest.raises(TypeError, match="identity"):
        st.agent(identity=3)
    with pytest.raises(st.InputError, match="the identity of an agent is empty"):
        recorded(first, identity=" ")


@pytest.mark.parametrize(
    "option",
    [
        {"samples": 0},
        {"concurrency": 0},
        {"tries": True},
        {"deadline": 0.0},
        {"deadline": float("inf")},
        {"samples": 1.5},
    ],
)
def test_options_out_of_their_range(option):
    [name] = option
    with pytest.raises(st.InputError, match=name):
        recorded(first, **option)


def test_replay_needs_neither_the_function_nor_a_prompt(tmp_path):
    agent = recorded(unlike(1), samples=3)
    result = st.verify(desk, agent)
    file = tmp_path / "decisions.jsonl"
    file.write_text("\n".join(export_lines(answer for _, answer in agent.store.answers())))
    replay = st.agents.ReplayAgent(file, prompt)
    replayed = st.verify(desk, replay)
    assert (replayed.agent, replayed.queries) == ("test (replayed)", 0)
    assert replayed.decisions == result.decisions
    assert replayed.answers == result.answers
    with pytest.raises(st.errors.StoreError, match="no decision for"):
        replay.select([ONE])


def test_contexts_that_differ_have_texts_that_differ():
    """Also where values hold commas and brackets, and two relations the same tuples."""
    plain = Plain()
    assert plain.call_text(st.Call("f", ("a, b",))) != plain.call_text(st.Call("f", ("a", "b")))
    texts = st.parse_deployment(
        'deployment d\nsort m\ntext m1: m = "pay"\nrelation R(m)\nrelation S(m)\ninit R(m1)\n'
        "tool t() guard R(m1)\n"
    )
    [message] = plain.messages(DecisionContext(texts.init, frozenset({st.Call("t", ())})))
    assert "pay" in message.content
    other = DecisionContext(st.Instance.of(texts.schema, [("S", ("m1",))]), frozenset({st.Call("t", ())}))
    assert plain.messages(other) != (message,)


# repeated questions


def test_an_agent_is_asked_again_about_some_contexts():
    asked = Counter()

    def counting(context):
        asked[context] += 1
        return first(context)

    agent = recorded(counting, probe=True)
    agent.select([ONE, *MANY])
    assert asked.pop(ONE) == 1, "there is no choice"
    numbers = [asked[context] for context in MANY]
    assert tuple(numbers[: len(TIMES)]) == TIMES
    assert [i + 1 for i, n in enumerate(numbers) if n == 2 and i >= len(TIMES)] == [EVERY, 2 * EVERY]
    assert set(numbers[len(TIMES) :]) == {1, 2}
    assert agent.queries == 1 + len(MANY)


def test_a_random_function_has_no_verdict():
    """Ten of them. Asked once each they give several different verdicts, each a confident one."""
    once = [st.verify(desk, recorded(unlike(seed))) for seed in range(10)]
    assert len({tuple(verdict.holds for verdict in result.verdicts.values()) for result in once}) > 1
    assert all(verdict.holds is not None for result in once for verdict in result.verdicts.values())
    for seed in range(10):
        result = st.verify(desk, unlike(seed))
        assert {verdict.holds for verdict in result.verdicts.values()} == {None}
        assert "answers differently when it is asked again" in result["auth"].reason
        [finding] = [finding for finding in result.findings if finding.kind == "unsteady agent"]
        answers = next(answer for answer in result.answers if answer.said.divided)
        assert all(str(call) in finding.text for call in answers.selected), "both answers are told"
        assert [h.name for h in result.hypotheses.missing] == ["the agent answers alike"]


def test_what_changes_with_time_has_no_verdict():
    turns = itertools.count()
    agent = recorded(lambda context: sorted(context.calls)[next(turns) % len(context.calls)], probe=True)
    result = st.verify(desk, agent)
    assert {verdict.holds for verdict in result.verdicts.values()} == {None}
    again = st.verify(desk, recorded(first, store=agent.store, probe=True))
    assert again.queries == 0
    assert {verdict.holds for verdict in again.verdicts.values()} == {None}, "the records tell"


def test_what_goes_by_the_clock_has_no_verdict():
    """Its answers change after so many questions: put one after the other, they would all be the same."""
    clock = itertools.count()

    def by_the_clock(context):
        return first(context) if next(clock) < 8 else last(context)

    result = st.verify(desk, recorded(by_the_clock, probe=True))
    assert {verdict.holds for verdict in result.verdicts.values()} == {None}
    assert "unsteady agent" in {finding.kind for finding in result.findings}


def test_questions_are_put_again_among_later_ones():
    asked = []
    agent = recorded(lambda context: asked.append(context) or first(context), probe=True)
    with agent.spreading():
        for context in MANY:
            agent.select([context])
        assert len(asked) > len(MANY)
    assert sorted(Counter(asked).values())[-len(TIMES) :] == sorted(TIMES)
    places = [place for place, context in enumerate(asked) if context == MANY[0]]
    assert places[1:] != [*range(1, TIMES[0])], "not one after the other"
    assert len(agent.answer(MANY[0]).said.answers) == TIMES[0]
    asked.clear()
    agent.select(MANY[:3])
    assert asked == []


@pytest.mark.parametrize("samples", [1, 5])
def test_no_answer_is_lost_where_a_run_ends_before_a_question_is_put_as_often_as_it_should(samples):
    store, asked = st.Store(), []

    def ending(context):
        if len(asked) == 32:
            raise Mishap("enough")
        asked.append(context)
        return first(context)

    def again(context):
        asked.append(context)
        return first(context)

    with pytest.raises(st.AgentError, match="enough"):
        recorded(ending, store=store, probe=True, samples=samples).select(MANY)
    agent = recorded(again, store=store, probe=True, samples=samples)
    agent.select(MANY)
    assert [len(agent.answer(context).said.answers) for context in MANY] == [*map(asked.count, MANY)]


def test_two_workers_share_the_questions(tmp_path):
    asked, stores = Counter(), [st.Store(tmp_path / "s.sqlite") for _ in range(2)]

    def slow(context):
        asked[context] += 1
        time.sleep(0.01)
        return first(context)

    def work(store):
        recorded(slow, store=store).select(MANY)

    workers = [threading.Thread(target=work, args=(store,)) for store in stores]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert asked == Counter(MANY), "each once"


def test_a_question_of_a_worker_that_gives_up_is_taken_over(tmp_path):
    """What it has heard so far is used at once, before it has asked as often as it means to."""
    begun, give_up, failures = threading.Event(), threading.Event(), []

    def stuck(context):
        if context == MANY[1]:
            begun.set()
            give_up.wait(20)
            raise Mishap("no more")
        return first(context)

    def work():
        with st.Store(tmp_path / "s.sqlite") as store, pytest.raises(st.AgentError) as caught:
            recorded(stuck, store=store, probe=True).select(MANY[:2])
        failures.append(caught.value)

    worker = threading.Thread(target=work)
    worker.start()
    assert begun.wait(20)
    asked = []
    with st.Store(tmp_path / "s.sqlite") as store:
        other = recorded(lambda context: asked.append(context) or first(context), store=store)
        other.select(MANY[:1])
        assert asked == []
        threading.Timer(0.2, give_up.set).start()
        other.select(MANY[:2])
        assert asked == [MANY[1]]
    worker.join()
    assert failures


def test_several_samples_cover_all_answers():
    """Of an agent that takes one of two calls at random: what either does is possible."""
    dice = random.Random(0)
    result = st.verify(
        desk, recorded(lambda context: dice.choice([first(context), last(context)]), samples=12)
    )
    both = st.verify(desk, FunctionAgent(lambda context: {first(context), last(context)}))
    assert result.decisions == both.decisions
    assert {name: v.holds for name, v in result.verdicts.items()} == {
        name: v.holds for name, v in both.verdicts.items()
    }
    divided = [answer for answer in result.answers if answer.said.divided]
    assert divided
    for answer in divided:
        assert len(answer.said.answers) == 12 == sum(answer.said.counts.values())
    assert not [finding for finding in result.findings if finding.kind == "unsteady agent"]
    [told] = [h for h in result.hypotheses.all if h.name == "what the agent answered is possible"]
    assert f"{len(divided)} of" in told.how
    decisions = report_data(result)["decisions"]
    assert {decision["asked"] for decision in decisions} == {1, 12}
    assert all(sum(d["answers"].values()) == d["asked"] for d in decisions)


def test_a_set_of_calls_is_one_answer():
    result = st.verify(desk, lambda context: context.calls)
    assert [v.holds for v in result.verdicts.values()] == [
        v.holds for v in st.verify(desk, "any").verdicts.values()
    ]


# a function that is changed


def test_a_changed_function_is_told():
    store = st.Store()
    st.verify(desk, recorded(first, store=store))
    same = st.verify(desk, recorded(first, store=store))
    assert "changed agent" not in {finding.kind for finding in same.findings}
    changed = st.verify(desk, recorded(last, store=store))
    [finding] = [finding for finding in changed.findings if finding.kind == "changed agent"]
    assert "4 of 4 answers of test are those of another source" in finding.text
    sourceless = recorded(eval("lambda context: min(context.calls)"), store=store)
    assert "changed agent" not in {finding.kind for finding in st.verify(desk, sourceless).findings}


# what goes wrong


class Mishap(Exception):
    pass


def test_errors_of_the_function_name_the_agent_and_the_context():
    def failing(context):
        raise Mishap("no\nsuch \x1b[31mthing")

    for function in (failing, recorded(failing), recorded(failing, concurrency=4)):
        with pytest.raises(st.AgentError) as caught:
            st.verify(desk, function)
        message = str(caught.value)
        assert "raises Mishap: no such \\x1b[31mthing; mend it: it was asked about { Approver(" in message
        assert isinstance(caught.value.__cause__, Mishap)
        frames = []
        trace = caught.value.__cause__.__traceback__
        while trace is not None:
            frames.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        assert frames[-1] == "failing"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "answers None, which is no collection of calls"),
        ((), "selects nothing for"),
        (st.Call("fly", ()), r"selects fly\(\) for"),
        (st.Given(()), "selects nothing for"),
    ],
)
def test_answers_that_are_none_are_not_kept(answer, says):
    agent = recorded(lambda context: answer)
    with pytest.raises(st.AgentError, match=says):
        agent.select([MANY[0]])
    assert not [*agent.store.answers()]


def test_a_coroutine_of_a_plain_function():
    with pytest.raises(st.AgentError, match="declare it with `async def`"):
        recorded(lambda context: first_async(context)).select([ONE])


@pytest.mark.parametrize("concurrency", [1, 3])
def test_what_was_answered_is_kept_when_a_later_question_fails(concurrency):
    asked, failed = [], []
    lock = threading.Lock()

    def failing_late(context):
        with lock:
            asked.append(context)
            number = len(asked)
        if number == 20 and not failed:
            failed.append(context)
            raise Mishap
        return first(context)

    agent = recorded(failing_late, concurrency=concurrency)
    with pytest.raises(st.AgentError):
        agent.select(MANY)
    kept = len([*agent.store.answers()])
    assert 19 <= kept <= 19 + concurrency - 1
    assert kept + 1 == len(asked), "what was in flight counts, and nothing new was begun"
    asked.clear()
    agent.select(MANY)
    assert len(asked) == len(MANY) - kept


def test_tries_and_progress(monkeypatch):
    monkeypatch.setattr("stead_sym.agents.recorded._PAUSE", 0.001)
    said = []
    tried = Counter()

    def flaky(context):
        tried[context] += 1
        if tried[context] < 3:
            raise Mishap("busy")
        return first(context)

    agent = recorded(flaky, tries=3)
    agent.report_to(lambda phase, **counts: said.append((phase, counts)))
    agent.select(MANY)
    assert set(tried.values()) == {3}
    assert said[0] == ("asking test", {"answers": 0, "of": len(MANY)})
    assert said[-1] == ("asking test", {"answers": len(MANY), "of": len(MANY), "retries": 2 * len(MANY)})
    assert [counts["answers"] for _, counts in said] == sorted(counts["answers"] for _, counts in said)
    with pytest.raises(st.AgentError, match="busy"):
        recorded(lambda context: flaky(offering("another")), tries=2).select([ONE])


def test_verification_listens_to_the_agent():
    phases = Counter()
    agent = recorded(first)
    st.verify(desk, agent, progress=lambda phase, **counts: phases.update([phase]))
    assert phases["asking test"] >= 4
    before = phases.copy()
    agent.select([ONE])
    assert phases == before, "nobody listens any more"


# many at a time, deadlines, Ctrl-C


def most_at_a_time(kind, concurrency, expected):
    """Return the largest number of questions in flight; each waits until ``expected`` of them are."""
    running, most, lock, full = 0, 0, threading.Lock(), threading.Event()

    def enter(step):
        nonlocal running, most
        with lock:
            running += step
            most = max(most, running)
            if running >= expected:
                full.set()

    def plain(context):
        enter(1)
        full.wait(60)
        time.sleep(0.01)  # for one too many to come in
        enter(-1)
        return first(context)

    async def waiting(context):
        enter(1)
        until = time.monotonic() + 60
        while not full.is_set() and time.monotonic() < until:
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        enter(-1)
        return first(context)

    options = {} if concurrency is None else {"concurrency": concurrency}
    agent = recorded({"plain": plain, "async": waiting}[kind], **options)
    assert agent.select(MANY) == [{first(context)} for context in MANY]
    return most


@pytest.mark.parametrize(
    ("kind", "concurrency", "most"),
    [("plain", None, 1), ("plain", 5, 5), ("async", None, 16), ("async", 5, 5), ("async", 1, 1)],
)
def test_so_many_questions_at_a_time(kind, concurrency, most):
    assert most_at_a_time(kind, concurrency, most) == most
    assert not threads()


def test_a_plain_function_stays_in_its_thread():
    seen = set()

    def where(context):
        seen.add(threading.current_thread())
        return first(context)

    st.verify(desk, where)
    assert seen == {threading.current_thread()}


def test_inside_a_running_loop():
    """As in a notebook."""

    async def ask():
        return recorded(first_async).select(MANY)

    assert asyncio.run(ask()) == [{first(context)} for context in MANY]


def test_one_loop_serves_all_batches():
    """A client that holds connections is bound to the loop that it was first used in."""
    loops = []

    async def where(context):
        loops.append(asyncio.get_running_loop())
        return first(context)

    agent = recorded(where)
    agent.select(MANY[:3])
    agent.select(MANY[3:6])
    assert len(set(loops)) == 1
    assert not loops[0].is_closed()
    del agent
    gc.collect()
    assert loops[0].is_closed()


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_deadline_for_each_question(kind):
    stuck = threading.Event()

    def plain(context):
        if context == MANY[5]:
            stuck.wait(30)
        return first(context)

    async def waiting(context):
        if context == MANY[5]:
            await asyncio.sleep(30)
        return first(context)

    agent = recorded({"plain": plain, "async": waiting}[kind], deadline=0.2, concurrency=2)
    started = time.monotonic()
    with pytest.raises(st.AgentError, match=r"agent test has not answered within 0.2 s: \{ Approver"):
        agent.select(MANY)
    assert time.monotonic() - started < 10
    assert len([*agent.store.answers()]) >= 5
    stuck.set()
    wait_until(lambda: not threads())


def test_tries_end_at_the_deadline():
    def busy(context):
        raise Mishap("busy")

    started = time.monotonic()
    with pytest.raises(st.AgentError, match="busy"):
        recorded(busy, tries=1000, deadline=1.0).select([ONE])
    assert time.monotonic() - started < 10


def test_a_timeout_of_the_function_is_an_error_of_the_function():
    async def own(context):
        raise TimeoutError("of its own")

    with pytest.raises(st.AgentError, match="raises TimeoutError: of its own"):
        recorded(own, deadline=60).select([ONE])


async def stubborn(context):
    """It goes on whatever it is told."""
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)


@pytest.mark.gate
def test_a_question_that_refuses_to_end_is_left(caplog):
    """Where it is over its deadline nobody waits for it, and what others answered is kept."""

    async def function(context):
        return await stubborn(context) if context == MANY[5] else first(context)

    agent = recorded(function, deadline=0.5, concurrency=2)
    started = time.monotonic()
    with pytest.raises(st.AgentError, match=r"has not answered within 0.5 s"):
        agent.select(MANY)
    assert time.monotonic() - started < 15
    wait_until(lambda: not threads())
    kept = len([*agent.store.answers()])
    assert kept >= 5
    assert agent.select(MANY[:5]) == [{first(context)} for context in MANY[:5]]
    del agent
    gc.collect()
    assert not caplog.records, "what is left behind is not complained of"


@pytest.fixture
def interruptible():
    """Ctrl-C does what it does in a terminal; a shell has it ignored in what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("running", [True, False])
def test_ctrl_c_while_a_thread_begins(running, monkeypatch):
    """It comes before there is anything to be ended, and what has begun ends all the same."""
    asked = []
    start = threading.Thread.start

    async def function(context):
        asked.append(context)
        await asyncio.sleep(30)

    def interrupted(thread):
        if running:
            start(thread)
        if thread.name.startswith("stead-sym"):
            raise KeyboardInterrupt

    agent = recorded(function)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.select(MANY)
    assert not threads()
    assert len(asked) <= 16
    assert not [*agent.store.answers()]
    assert recorded(first_async).select(MANY[:3]) == [{first(context)} for context in MANY[:3]]


@pytest.mark.gate
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_does_not_wait_for_what_refuses_to_end(monkeypatch):
    import _thread

    monkeypatch.setattr("stead_sym.agents.in_flight._CANCEL_ALL_SECONDS", 0.5)

    async def function(context):
        if context == MANY[3]:
            _thread.interrupt_main()
        await stubborn(context)

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        recorded(function).select(MANY)
    assert time.monotonic() - started < 20
    wait_until(lambda: not threads())


@pytest.mark.parametrize("kind", ["plain", "async", "in turn"])
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_no_thread(kind, tmp_path):
    """Ctrl-C is a KeyboardInterrupt in the thread that asks, wherever that is."""
    import _thread

    ended = []

    def plain(context):
        if context == MANY[3]:
            _thread.interrupt_main()
        time.sleep(0.05)
        return first(context)

    async def waiting(context):
        if context == MANY[3]:
            _thread.interrupt_main()
        try:
            await asyncio.sleep(0.05 if context in MANY[:3] else 30)
        finally:
            ended.append(context)
        return first(context)

    agent = recorded(
        {"plain": plain, "async": waiting, "in turn": plain}[kind],
        concurrency=1 if kind == "in turn" else 2,
        store=tmp_path / "decisions.sqlite",
    )
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.select(MANY)
    assert time.monotonic() - started < 10
    wait_until(lambda: not threads())
    if kind == "async":
        assert MANY[3] in ended, "what was in flight was cancelled"
    kept = len([*agent.store.answers()])
    assert kept < len(MANY)
    quick = recorded(first, store=agent.store)
    quick.select(MANY)
    assert quick.queries == len(MANY) - kept, "it goes on where it was"


def test_an_exit_in_a_function_in_flight_ends_the_asking():
    async def leaving(context):
        raise SystemExit(3)

    with pytest.raises(st.AgentError, match="raises SystemExit: 3"):
        recorded(leaving).select(MANY)
    assert not threads()


def test_a_question_that_cancels_itself():
    async def cancelling(context):
        raise asyncio.CancelledError

    with pytest.raises(st.AgentError, match="cancelled"):
        recorded(cancelling).select(MANY)


def test_many_threads_may_select():
    agent = recorded(first_async)
    found = []
    workers = [threading.Thread(target=lambda: found.append(agent.select(MANY))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [[{first(context)} for context in MANY]] * 8
    assert agent.queries == len(MANY)


def wait_until(condition):
    until = time.monotonic() + 10
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    assert condition()


def test_notes_are_storable():
    agent = recorded(lambda context: st.Given((first(context),), "half \ud800 of one\x00"))
    agent.select([ONE])
    assert agent.answer(ONE).said.answers[0].note == "half \\ud800 of one\x00"
    [(_, answer)] = agent.store.answers()
    assert answer == agent.answer(ONE)


@pytest.mark.parametrize(
    "said",
    [
        *((5, None), (None, None), ("", "-1"), ("", True), ("", 0.5), ("", math.nan), ("", -math.inf)),
        *(("", 10**400), ("", -(10**400)), ("", Decimal(-1))),
    ],
)
def test_what_cannot_stand_beside_an_answer_is_not_kept(said):
    """A record that cannot be read back would make the whole store useless."""
    agent = recorded(lambda context: st.Given((first(context),), *said))
    with pytest.raises(st.AgentError, match=r"answers with the note .* and the log-probability .*; give a"):
        agent.select([ONE])
    assert not [*agent.store.answers()]


def test_a_generator_runs_as_a_part_of_the_function():
    def broken(context):
        yield first(context)
        raise Mishap("half way")

    def endless(context):
        while True:
            yield first(context)

    def slow(context):
        yield first(context)
        time.sleep(30)

    def two(context):
        yield from sorted(context.calls)

    assert recorded(two).select(MANY[:1]) == [MANY[0].calls]
    with pytest.raises(st.AgentError, match=r"agent test raises Mishap: half way; mend it: it was asked"):
        recorded(broken).select([ONE])
    with pytest.raises(st.AgentError, match=r"it answers with more than \d+ calls; mend it"):
        recorded(endless).select([ONE])
    started = time.monotonic()
    with pytest.raises(st.AgentError, match=r"has not answered within 0.2 s"):
        recorded(slow, deadline=0.2).select([ONE])
    assert time.monotonic() - started < 10


def test_what_a_function_does_to_its_context_stays_with_it():
    """It gets a copy: neither the question nor what is offered changes under those who asked."""

    def careless(context):
        context.view.by_relation.clear()
        context.view.active_domain.clear()
        object.__setattr__(context.view, "facts", frozenset())
        object.__setattr__(context, "calls", frozenset({st.Call("fly", ())}))
        return st.Call("fly", ())

    context = DecisionContext(st.Instance.of(desk.schema, [("Approver", ("a", "b"))]), ONE.calls)
    agent = recorded(careless)
    with pytest.raises(st.AgentError, match=r"agent test selects fly\(\) for"):
        agent.select([context])
    assert context == ONE
    assert context.view.by_relation
    assert context.view.active_domain
    assert not [*agent.store.answers()]


def test_odd_answers_are_told_on_one_line():
    class Odd:
        def __repr__(self):
            return "a\nb\x1b[2J" + "x" * 1_000_000

    for answer in (Odd(), [Odd()], [st.Call("fly\n\x1b[2J" + "x" * 1_000_000, ())]):
        with pytest.raises(st.AgentError) as caught:
            recorded(lambda context, answer=answer: answer).select([ONE])
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000


def test_a_decision_under_the_key_of_another_question():
    agent = recorded(first)
    agent.select(MANY[:1])
    [(_, answer)] = agent.store.answers()
    wrong = st.Store()
    other = recorded(first, store=st.Store())
    other.select(MANY[1:2])
    wrong.put(replace(answer, key=other.answer(MANY[1]).key))
    with pytest.raises(st.errors.StoreError, match="has other calls, or another prompt"):
        recorded(first, store=wrong).select(MANY[1:2])
