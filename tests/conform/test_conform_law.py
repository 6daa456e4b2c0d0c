"""Generated deployments as their own systems: each agrees with itself, and a changed one does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from exported_system import exported
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.deployments import deployments
from stead_sym.conformance.binding import Binding, Rows
from stead_sym.conformance.conform import conform, reached
from stead_sym.deployment.semantics import calls_of, databases
from stead_sym.deployment.tool import Call, Choose, Fresh
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from stead_sym.relational.canonical import canonical_form, isomorphic
from stead_sym.relational.instance import Fact, Instance
from stead_sym.verification.verify import verify


class System:
    """A database whose tools are those of a deployment, computed from its rows."""

    def __init__(self, deployment, restriction):
        self.deployment, self.restriction = deployment, restriction

    @property
    def binding(self):
        relations = self.deployment.schema.relations
        columns = {r.name: tuple(f"c{n}" for n in range(max(1, len(r.sorts)))) for r in relations}
        tables = [
            f"CREATE TABLE t_{name} ({', '.join(f'{c} TEXT' for c in named)});\n"
            for name, named in columns.items()
        ]
        return Binding(
            "sqlite://",
            {tool.name: self.tool(tool) for tool in self.deployment.tools_and_events},
            scratch=True,
            schema="".join(tables),
            relations={
                r.name: Rows(
                    f"t_{r.name}", columns[r.name][: len(r.sorts)], {} if r.sorts else {"c0": "there"}
                )
                for r in relations
            },
        )

    def tool(self, tool):
        def run(connection, **arguments):
            call = Call(tool.name, tuple(arguments[param.name] for param in tool.params))
            facts = set()
            for relation in self.deployment.schema.relations:
                for row in connection.exec_driver_sql(f"SELECT * FROM t_{relation.name}"):
                    facts.add(Fact(relation.name, tuple(row)[: len(relation.sorts)]))
            state = Instance(self.deployment.schema, frozenset(facts))
            if call not in calls_of(self.deployment, tool, state):
                raise ValueError("refused")
            after = next(iter(databases(self.deployment, call, state, self.restriction)), None)
            if after is None:
                raise ValueError("no effect")
            for fact in state.facts - after.facts:
                where = " AND ".join(f"c{n} = ?" for n in range(len(fact.args))) or "1"
                connection.exec_driver_sql(f"DELETE FROM t_{fact.relation} WHERE {where}", fact.args)
            for fact in after.facts - state.facts:
                cells = fact.args or ("there",)
                marks = ", ".join("?" * len(cells))
                connection.exec_driver_sql(f"INSERT INTO t_{fact.relation} VALUES ({marks})", cells)

        return run


def explored(deployment):
    """The explicit graph under any agent, if there is one, and small."""
    try:
        result = verify(deployment, "any", [], engine="explicit", findings=False, max_states=20)
    except (DefinitionError, NoInitialState, Undecided):
        reject()
    assume(result.broken is None and not result.deployment.history)
    values = max(sum(map(len, state.active_domain.values())) for state in result.engine.graph.states)
    assume(max(len(tool.params) for tool in deployment.tools_and_events) <= (2 if values < 5 else 1))
    return result


@settings(max_examples=examples(12))
@given(deployments())
def test_a_deployment_is_what_it_is(deployment):
    result = explored(deployment)
    found = conform(deployment, System(result.deployment, result.restriction).binding)
    assert found.agrees
    assert found.complete


@settings(max_examples=examples(12, 300))
@given(deployments(choose=False, alternatives=1))
def test_a_deployment_is_what_it_is_exported_as(deployment):
    pytest.importorskip("sqlglot")
    result = explored(deployment)
    binding = exported(result.deployment)
    event(f"{len(binding.tools)} of {len(deployment.tools_and_events)} tools")
    assert conform(deployment, binding).agrees


@settings(max_examples=examples(20))
@given(deployments())
def test_the_states_are_those_of_the_explicit_engine_up_to_isomorphism(deployment):
    result = explored(deployment)
    constants = frozenset().union(*result.deployment.constants.values())
    forms = {canonical_form(state, constants).instance for state in result.engine.graph.states}
    assert reached(deployment).forms.keys() == forms


@settings(max_examples=examples(20))
@given(st.data(), deployments())
def test_a_changed_tool_is_found_exactly_if_it_makes_a_difference(data, deployment):
    result = explored(deployment)
    deployment = result.deployment
    tool = data.draw(st.sampled_from(deployment.tools_and_events))
    effect = data.draw(st.sampled_from(tool.effects))
    variants = [replace(tool, guard=fo.Not(tool.guard))]
    for number, statement in enumerate(effect.statements):
        if isinstance(statement, Choose | Fresh):
            continue  # what follows it uses its variable
        less = replace(effect, statements=effect.statements[:number] + effect.statements[number + 1 :])
        variants.append(replace(tool, effects=(less,)))
    changed = data.draw(st.sampled_from(variants))
    tools = tuple(changed if one.name == tool.name else one for one in deployment.written.tools)
    system = replace(deployment, written=replace(deployment.written, tools=tools))
    fixed = frozenset().union(*deployment.constants.values())
    differs = False
    for state in result.engine.graph.states:
        ranges = [frozenset(calls_of(one, one.tool(tool.name), state)) for one in (deployment, system)]
        for call in ranges[0] | ranges[1]:
            ends = list(databases(system, call, state, result.restriction)) if call in ranges[1] else []
            assume(len(ends) < 2)  # which of several it takes may depend on names
            after = ends or [state]
            allowed = (
                list(databases(deployment, call, state, result.restriction)) if call in ranges[0] else [state]
            )
            known = fixed.union(call.args, *state.active_domain.values())
            differs |= not any(isomorphic(after[0], one, known) for one in allowed)
    event("a difference" if differs else "none")
    assert conform(deployment, System(system, result.restriction).binding).agrees is not differs
