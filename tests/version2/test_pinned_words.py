"""New words as names: one point of the definition a test.

On both engines and both domains; the expected answers are worked out by hand.
"""

from __future__ import annotations

from pinned import counts, verdicts


def test_the_new_words_are_names_where_no_item_starts(engine):
    """The empty state, one with the fresh value in `agent`, and with it in `set` too: over 2·1 + 1 values,
    1 + 3 + 3 states. From the first to three, from each of the others on to the next or to itself."""
    text = """
deployment event
sort event, agent
sort key = { set, in } rigid
relation agent(event)
relation initially(event, key)
bound event 1
tool any()
  guard ~exists event: event. true
  effect
    fresh succ: event
    insert agent(succ)
tool key(in: event)
  guard agent(in)
  effect
    insert initially(in, set)
spec succ AG forall event. (initially(event, set) -> agent(event))
"""
    assert counts(engine, text) == (7, 3 + 3 + 3)
    assert verdicts(engine, text) == {"succ": True}
