"""Facts that rules keep, by conditions on all records that come down to the ones of a specification."""

from __future__ import annotations

import pytest

from stead_sym.analyses.local.verify import localise
from stead_sym.deployment.language import parse_deployment
from stead_sym.verification.verify import verify

CALLS = """
deployment calls
sort call, person
relation Holder(call key, person)
relation Asked(call)
relation Told(call)
relation Known(person)
relation Open(call)
init
  Holder(c1, ann)
  Holder(c2, bob)
  Holder(c3, bob)
  Open(c1)
  Open(c3)
event ask(c: call)
  guard ~Asked(_) & Holder(c, _)
  effect
    insert Asked(c)
event hang_up(c: call)
  guard Told(c)
  effect
    clear Asked, Told, Known
tool identify(p: person)
  guard exists c. (Asked(c) & Holder(c, p) & ~Known(p))
  effect
    insert Known(p)
tool tell(c: call)
  guard Asked(c)
  effect
    insert Told(c)
tool close(c: call)
  guard Open(c) & Asked(c) & ~exists p. (Asked(c) & Known(p) & Holder(c, p))
  effect
    delete Open(c)
policy first
  call identify(p)
  call tell(c)
policy last
  call tell(c)
  call identify(p)
terminal
spec told AG forall c. (Told(c) -> exists p. (Holder(c, p) & Known(p)))
spec stays AG forall c. (Asked(c) & Open(c) & (exists p. (Holder(c, p) & Known(p))) -> AX Open(c))
"""


@pytest.mark.parametrize(
    ("agent", "told"), [("first", True), ("last", False), ("any", False)], ids=["first", "last", "any"]
)
def test_rules_before_say_what_is_done_already(agent, told):
    """Nobody is told before their holder is known, if whoever can be identified is so first."""
    deployment = parse_deployment(CALLS)
    found = localise(deployment, {"": agent}).verdicts
    assert {name: verdict.holds for name, verdict in found.items()} == {"told": told, "stays": True}
    whole = verify(deployment, agent, findings=False).verdicts
    assert {name: verdict.holds for name, verdict in whole.items()} == {"told": told, "stays": True}


def test_a_value_that_the_key_does_not_have_is_not_taken_for_granted():
    """A call without a holder is told though nobody is known."""
    deployment = parse_deployment(
        CALLS.replace("guard ~Asked(_) & Holder(c, _)", "guard ~Asked(_) & Open(c)")
    )
    deployment = parse_deployment(str(deployment).replace("Open(c1)", "Open(c1)\n  Open(c4)"))
    (verdict,) = localise(deployment, {"": "first"}, ["told"]).verdicts.values()
    assert verdict.holds is False
