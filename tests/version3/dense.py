"""Deployments dense in what version 3 brought, several constructs at once, so small that all can be tried.

``deployment(random.Random(seed), constructs)`` is made of the constructs named, of which ``ALL`` are
all. Most are free of errors: what an event brings in is bounded, what leaves is deleted from everywhere, a
policy ends with a line for each tool.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from language3 import (
    Agent,
    Atom,
    Binary,
    Binder,
    Choose,
    Clear,
    Column,
    Compare,
    Count,
    Deployment,
    Did,
    Effect,
    Formula,
    Fresh,
    Named,
    Next,
    Not,
    Past,
    Quantified,
    Relation,
    Rule,
    SetColumn,
    Since,
    Sort,
    Spec,
    Statement,
    Sum,
    Sum2,
    Term,
    Tool,
    Truth,
    Until,
    Value,
    Var,
    View,
    Wild,
    Write,
)

ALL = ("columns", "column sets", "terminal", "gates", "for", "references", "did", "past", "integers", "fair")
WILD = Wild()


class Maker:
    def __init__(self, random: Random, constructs: tuple[str, ...]) -> None:
        self.random = random
        self.on = {name for name in constructs if random.random() < 0.75} or set(constructs[:1])
        self.careless = random.random() < 0.25
        """If set, parts that keep a deployment free of errors are left out here and there."""
        self.names = 0
        self.tools: tuple[Tool, ...] = ()
        self.agents: tuple[str, ...] = ()

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def new(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # The data.

    def data(self) -> None:
        pick = self.random.choice
        low = pick([0, 0, -1]) if "integers" in self.on else 0
        self.sorts = [
            Sort("a"),
            Sort("k", ("k1", "k2"), rigid=self.chance(0.6)),
            Sort("n", tuple(range(low, 3))),
            Sort("o", ("lo", "hi"), ordered=True),
        ]
        if self.chance(0.4):
            self.sorts.append(Sort("m", (0, 1)))
        self.bound = pick([1, 1, 1, 2])
        finite = [sort.name for sort in self.sorts[1:]]
        key = pick(["a", "a", "k"])
        relations = [Relation("P", (Column("a"),)), Relation("F", ())]
        named = "columns" in self.on or "column sets" in self.on
        columns = [Column(key, "id" if named else None, key=True)]
        for name in ("c", "d")[: 1 + self.chance(0.5)]:
            columns.append(Column(pick(finite), name if named else None))
        relations.append(Relation("R", tuple(columns)))
        if self.chance(0.5):
            relations.append(Relation("Q", (Column(pick(finite)),)))
        if "column sets" in self.on and self.chance(0.25):
            columns2 = (Column("k", "i", key=True), Column("o", "e"), Column("o", "j", key=True))
            relations.append(Relation("Wide", columns2))
        if "integers" in self.on:
            relations.append(Relation("N", (Column("n", "num" if named else None),)))
        self.kept = key == "a" and "references" in self.on
        if self.kept:
            if self.chance(0.5):
                relations[0] = Relation("P", (Column("a", references="R"),))
            if self.chance(0.6):
                relations.append(Relation("T", (Column("a", key=True), Column(pick(finite))), total="R"))
            elif self.chance(0.6):
                relations.append(
                    Relation("T", (Column(pick(["k", "n"]), key=True), Column("a", references="R")))
                )
        elif self.chance(0.3):
            relations.append(Relation("T", (Column("k", key=True), Column("a"))))
        self.relations = {relation.name: relation for relation in relations}
        self.init: list[Atom] = []
        if self.chance(0.3) and not self.kept:
            self.init.append(Atom("P", (Value("c0"),)))
        if "N" in self.relations and self.chance(0.6):
            self.init.append(Atom("N", (self.constant("n"),)))
        if any(relation.name == "Wide" for relation in relations):
            self.init.append(Atom("Wide", (Value("k1"), self.constant("o"), Value("lo"))))
        if key == "k" and self.chance(0.7):
            row = (Value("k1"), *(self.constant(column.sort) for column in columns[1:]))
            self.init.append(Atom("R", row))

    def values(self, sort: str) -> tuple[str | int, ...]:
        return next(s.values for s in self.sorts if s.name == sort) or (
            ("c0",) if self.init_constant() else ()
        )

    def init_constant(self) -> bool:
        return any(Value("c0") in fact.args for fact in self.init)

    def constant(self, sort: str) -> Value:
        return Value(self.random.choice(self.values(sort)))

    # Terms and formulas. ``scope`` are the variables that can be named; ``rich`` whether past may stand here.

    def term(self, sort: str, scope: list[Var], wild: float = 0.0, integers: bool = True) -> Term:
        if self.chance(wild):
            return WILD
        if sort in "nm" and integers and "integers" in self.on and self.chance(0.15):
            return self.integer(scope, 1)
        own = [var for var in scope if var.sort == sort]
        if own and (self.chance(0.75) or not self.values(sort)):
            return self.random.choice(own)
        return self.constant(sort) if self.values(sort) else WILD

    def integer(self, scope: list[Var], depth: int) -> Term:
        """An integer term that is no bare numeral, of any sort."""
        own: list[Term] = [var for var in scope if var.sort in ("n", "m")]
        kind = self.random.randrange(5)
        if kind == 0 or (kind < 3 and not own) or depth == 0:
            return Count(*self.counted(scope))
        if kind == 1:
            binders, body = self.counted(scope)
            inner = [b.var for b in binders if b.var.sort in ("n", "m")]
            of = self.random.choice([*inner, *own, Value(self.random.randrange(-1, 3))])
            if self.chance(0.3):
                of = Sum2("+", of, Value(self.random.randrange(3)))
            return Sum(of, binders, body)
        left = self.random.choice(own) if own else Count(*self.counted(scope))
        right = self.random.choice([*own, *(Value(i) for i in range(3))])
        return Sum2(self.random.choice("+-"), left, right)

    def counted(self, scope: list[Var]) -> tuple[tuple[Binder, ...], Formula]:
        binders = tuple(self.binder() for _ in range(1 + self.chance(0.3)))
        inner = [*scope, *(binder.var for binder in binders)]
        return binders, self.formula(1, inner, past=False)

    def binder(self) -> Binder:
        sort = self.random.choice([s.name for s in self.sorts])
        return Binder(Var(self.new("x"), sort), declared=sort != "a" and self.chance(0.4))

    def atom(self, scope: list[Var], wild: float = 0.3) -> Formula:
        relation = self.random.choice([*self.relations.values()])
        args = [self.term(column.sort, scope, wild) for column in relation.columns]
        names = [column.name for column in relation.columns]
        if "columns" in self.on and names and all(names) and self.chance(0.6):
            given = [(str(n), t) for n, t in zip(names, args, strict=True) if t != WILD]
            if given:
                self.random.shuffle(given)
                return Named(relation.name, tuple(given))
        return Atom(relation.name, tuple(args))

    def comparison(self, scope: list[Var]) -> Formula:
        if "integers" in self.on and self.chance(0.6):
            left = self.integer(scope, 1)
            right = self.random.choice(
                [Value(self.random.randrange(-1, 4)), *(v for v in scope if v.sort in "nm")]
            )
            return Compare(self.random.choice(["=", "!=", "<", "<=", ">", ">="]), left, right)
        if not scope:
            return self.atom(scope)
        var = self.random.choice(scope)
        other = self.term(var.sort, scope, integers=False)
        if other == WILD:
            return self.atom(scope)
        ops = ["=", "!="] if var.sort in "ak" else ["=", "!=", "<", "<=", ">", ">="]
        return Compare(self.random.choice(ops), var, other)

    def did(self, scope: list[Var]) -> Formula:
        tool = self.random.choice(self.tools)
        args = tuple(self.term(param.sort, scope, wild=0.35) for param in tool.params)
        owners = [agent for agent, tools in self.owned if tool.name in tools and agent]
        by = self.random.choice(owners) if owners and not tool.event and self.chance(0.4) else None
        return Did(tool.name, args, by)

    def leaf(self, scope: list[Var]) -> Formula:
        if "did" in self.on and self.tools and self.chance(0.35):
            return self.did(scope)
        if self.chance(0.2):
            return self.comparison(scope)
        return self.atom(scope)

    def formula(self, depth: int, scope: list[Var], past: bool = True, plain: bool = False) -> Formula:
        """A formula about one state; ``past``: past operators may stand in it; ``plain``: no `did`."""
        if depth <= 0 or self.chance(0.25):
            return self.atom(scope) if plain else self.leaf(scope)

        def below(more: tuple[Var, ...] = ()) -> Formula:
            return self.formula(depth - 1, [*scope, *more], past, plain)

        if past and "past" in self.on and self.chance(0.4):
            word = self.random.choice(["since", "since", "once", "once", "historically", "previously"])
            return Since(below(), below()) if word == "since" else Past(word, below())
        kind = self.random.randrange(6)
        if kind == 0:
            return Not(below())
        if kind <= 2:
            return Binary(self.random.choice(["&", "|", "&", "|", "->", "<->"]), below(), below())
        if kind == 3 and self.chance(0.4):
            binder = replace(self.binder(), declared=False)
            word = self.random.choice(["atleast", "atmost", "exactly"])
            return Quantified(word, binder, below((binder.var,)), self.random.randrange(1, 3))
        binder = self.binder()
        return Quantified(self.random.choice(["forall", "exists"]), binder, below((binder.var,)))

    def sentence(self, depth: int, scope: list[Var]) -> Formula:
        """A formula of FO-CTL."""
        if depth <= 0:
            return self.formula(2, scope)
        kind = self.random.randrange(9)
        if kind <= 3:
            return Next(
                self.random.choice(["AX", "EX", "AF", "EF", "AG", "EG"]), self.sentence(depth - 1, scope)
            )
        if kind == 4:
            parts = (self.sentence(depth - 1, scope), self.sentence(depth - 2, scope))
            return Until(self.random.choice("AE"), self.random.choice("UW"), *parts)
        if kind == 5:
            parts = (self.formula(1, scope), self.sentence(depth - 1, scope))
            return Binary(self.random.choice(["&", "|", "->", "<->"]), *parts)
        sort = self.random.choice(["a", "a", *(s.name for s in self.sorts)])
        has = sum(var.sort == "a" for var in scope) < 2
        var = Var(self.new("x") if has else scope[-1].name, sort if has else scope[-1].sort)
        body = self.sentence(depth - 1, [*(v for v in scope if v.name != var.name), var])
        there = self.atom([var], wild=0.2)
        if self.chance(0.5):
            return Quantified("forall", Binder(var), Binary("->", there, body))
        return Quantified("exists", Binder(var), Binary("&", there, body))

    # Tools and events.

    def row(self, name: str, first: Term, scope: list[Var]) -> Atom:
        columns = self.relations[name].columns
        rest = [self.term(column.sort, scope) for column in columns[1:]]
        return Atom(name, (first, *rest))

    def cleared(self, var: Var) -> tuple[Statement, ...]:
        """The value leaves: it is deleted from wherever it can stand."""
        forgotten = self.random.choice([*self.relations]) if self.careless else ""
        return tuple(
            Write("delete", Atom(name, tuple(var if i == j else WILD for j in range(len(relation.columns)))))
            for name, relation in self.relations.items()
            for i, column in enumerate(relation.columns)
            if column.sort == var.sort and name != forgotten
        )

    def arrival(self) -> Tool:
        x = Var(self.new("x"), "a")
        z = Var(self.new("z"), "a")
        other: Formula = Compare("=", z, z)
        if self.init_constant():
            other = Compare("!=", z, Value("c0"))
        params = (Var(self.new("p"), self.random.choice(["k", "n"])),) if self.chance(0.4) else ()
        statements: list[Statement] = [Fresh(x)]
        if self.relations["R"].columns[0].sort == "a":
            statements.append(Write("insert", self.row("R", x, [*params])))
        if "T" in self.relations and self.relations["T"].total:
            statements.append(Write("insert", self.row("T", x, [*params])))
        if len(statements) == 1 or self.chance(0.7):
            statements.append(Write("insert", Atom("P", (x,))))
        if any(WILD in s.atom.args for s in statements if isinstance(s, Write)):
            return self.arrival()
        effects = [Effect(tuple(statements))]
        if self.chance(0.2):
            effects.append(Effect((Write("insert", Atom("F", ())),)))
        guard = Quantified("atmost", Binder(z), other, self.bound - 1 + (self.careless and self.chance(0.5)))
        return Tool("arrive", params, guard, tuple(effects), event=self.chance(0.8))

    def statement(self, scope: list[Var]) -> list[Statement]:
        kind = self.random.randrange(10)
        records = [var for var in scope if var.sort == self.relations["R"].columns[0].sort]
        integers = [c for c in self.relations["R"].columns[1:] if c.sort in ("n", "m") and c.name]
        if "Wide" in self.relations and self.chance(0.3):
            key2 = (self.term("k", scope), self.term("o", scope))
            return [SetColumn("Wide", key2, "e", self.term("o", scope))]
        if "column sets" in self.on and kind < 4:
            key = self.term(self.relations["R"].columns[0].sort, scope)
            if key != WILD:
                column = self.random.choice(self.relations["R"].columns[1:])
                if "integers" in self.on and column in integers and self.chance(0.7):
                    return [self.counting_up(key, column)]
                made = SetColumn("R", (key,), str(column.name), self.term(column.sort, scope))
                if self.chance(0.2):
                    z = Var(self.new("z"), column.sort)
                    where = self.formula(1, [*scope, z])
                    made = replace(made, term=self.term(column.sort, [z]), binders=(z,), where=where)
                return [] if made.term == WILD else [made]
        if kind == 4 and records and not self.kept:
            word = "insert" if self.careless else "set"
            return [Write(word, self.row("R", self.random.choice(records), scope))]
        if kind == 5:
            return [Clear(("F",))] if self.chance(0.5) else [Write("insert", Atom("F", ()))]
        if kind == 6 and "N" in self.relations and "integers" in self.on:
            if self.chance(0.5):
                v = Var(self.new("v"), "n")
                limit = Compare("<", v, Value(2))
                where = Binary("&", Atom("N", (v,)), limit if self.chance(0.8) else Truth(True))
                more = Write("insert", Atom("N", (Sum2("+", v, Value(1)),)), (v,), where)
                return [Write("delete", Atom("N", (WILD,))), more]
            return [Write(self.random.choice(["insert", "delete"]), Atom("N", (self.term("n", scope),)))]
        if kind == 7 and "Q" in self.relations:
            sort = self.relations["Q"].columns[0].sort
            return [Write(self.random.choice(["insert", "delete"]), Atom("Q", (self.term(sort, scope),)))]
        if kind == 8 and not self.kept:
            v = Var(self.new("v"), "a")
            word = self.random.choice(["insert", "delete"])
            return [Write(word, Atom("P", (v,)), (v,), self.formula(2, [*scope, v]))]
        if kind == 9:
            v = Var(self.new("v"), self.random.choice(["k", "n", "o"]))
            scope.append(v)
            op = "&" if self.careless else "|"
            return [Choose(v, Binary(op, Compare("=", v, self.constant(v.sort)), self.formula(1, scope)))]
        own = [var for var in scope if var.sort == "a"]
        if own and (not self.kept or self.relations["P"].columns[0].references):
            var = self.random.choice(own)
            return [Write(self.random.choice(["insert", "delete"]), Atom("P", (var,)))]
        return [Write("insert", Atom("F", ()))]

    def counting_up(self, key: Term, column: Column) -> Statement:
        """A column one up, mostly kept below its last value, or set to a count."""
        if self.chance(0.25):
            return SetColumn("R", (key,), str(column.name), self.integer([], 1))
        z = Var(self.new("z"), column.sort)
        columns = self.relations["R"].columns
        row = Atom("R", (key, *(z if c == column else WILD for c in columns[1:])))
        last = self.values(column.sort)[-1]
        where: Formula = row if self.careless else Binary("&", row, Compare("<", z, Value(last)))
        return SetColumn("R", (key,), str(column.name), Sum2("+", z, Value(1)), (z,), where)

    def some_tool(self, name: str, event: bool) -> Tool:
        sorts = [self.random.choice(["a", "a", "k", "n"]) for _ in range(self.random.randrange(3))]
        params = tuple(Var(self.new("p"), sort) for sort in sorts)
        guard = Truth(True) if self.chance(0.3) else self.formula(2, [*params])
        effects = []
        for i in range(1 + self.chance(0.25)):
            scope = [*params]
            statements: list[Statement] = []
            for _ in range(1 + self.chance(0.4)):
                statements += self.statement(scope)
            leaves = [p for p in params if p.sort == "a"]
            if leaves and self.chance(0.3):
                statements = [*self.cleared(leaves[0])]
            statements = [s for s in statements if not self.wild_insert(s)]
            written = (
                replace(s, atom=self.by_name(s.atom)) if isinstance(s, Write) else s for s in statements
            )
            effects.append(Effect(tuple(written), self.formula(1, [*params]) if i else None))
        return Tool(name, params, guard, tuple(effects), event)

    @staticmethod
    def wild_insert(statement: Statement) -> bool:
        return isinstance(statement, Write) and statement.word != "delete" and WILD in statement.atom.args

    def by_name(self, atom: Atom) -> Atom | Named:
        """A fact to write, sometimes with names of columns; what is not named in a deletion is `_`."""
        names = [column.name for column in self.relations[atom.relation].columns]
        given = [(str(n), t) for n, t in zip(names, atom.args, strict=True) if t != WILD]
        if "columns" not in self.on or not all(names) or not given or self.chance(0.5):
            return atom
        self.random.shuffle(given)
        return Named(atom.relation, tuple(given))

    # The whole.

    def rules(self, words: list[str], tools: tuple[Tool, ...], number: int) -> list[Rule]:
        made = []
        for _ in range(number):
            tool = self.random.choice(tools)
            word = self.random.choice(words)
            args: list[Term] = []
            for param in tool.params:
                if word != "call" and self.chance(0.2):
                    args.append(WILD)
                elif self.chance(0.2) and self.values(param.sort):
                    args.append(self.constant(param.sort))
                else:
                    args.append(param)
            scope = [arg for arg in args if isinstance(arg, Var)]
            when = Truth(True) if self.chance(0.2) else self.formula(2, scope)
            made.append(Rule(word, tool.name, tuple(args), when))
        return made

    def agent(self, name: str, tools: tuple[Tool, ...]) -> Agent:
        policies = []
        for policy in ("p", "q"):
            lines = self.rules(["call"], tools, self.random.randrange(1, 3))
            last = [Rule("call", tool.name, tool.params) for tool in tools]
            self.random.shuffle(last)
            last = last[1:] if self.careless and self.chance(0.3) else last
            policies.append((f"{policy}{name}", (*lines, *last)))
        views = []
        if self.chance(0.4):
            for relation in self.relations.values():
                if self.chance(0.6):
                    args = tuple(Var(self.new("y"), column.sort) for column in relation.columns)
                    where = Truth(True) if self.chance(0.5) else self.formula(1, [*args])
                    views.append(View(relation.name, args, where))
        return Agent(name, tuple(tool.name for tool in tools), tuple(views), tuple(policies))

    def deployment(self) -> Deployment:
        self.data()
        several = self.chance(0.35)
        numbers = range(2, 4 + several)
        heads = [self.arrival(), *(Tool(f"t{i}") for i in numbers)]
        self.owned: list[tuple[str, list[str]]] = []
        made = [heads[0]]
        made += [self.some_tool(f"t{i}", event=self.chance(0.25)) for i in numbers]
        self.tools = tuple(made)
        if all(tool.event for tool in self.tools):
            self.tools = (*self.tools[:-1], replace(self.tools[-1], event=False))
        own = [tool for tool in self.tools if not tool.event]
        split = [("", own)]
        if several and len(own) > 1:
            middle = self.random.randrange(1, len(own))
            split = [("ann", own[:middle]), ("bob", own[middle:] + (own[:1] if self.chance(0.3) else []))]
        self.owned = [(name, [tool.name for tool in tools]) for name, tools in split]
        if "did" in self.on or "past" in self.on:  # now that they are known, guards may name tools
            self.tools = tuple(
                replace(tool, guard=Binary("&", tool.guard, self.formula(2, [*tool.params])))
                if self.chance(0.4)
                else tool
                for tool in self.tools
            )
        tools = {tool.name: tool for tool in self.tools}
        agents = tuple(self.agent(name, tuple(tools[t.name] for t in mine)) for name, mine in split)
        if self.chance(0.5):
            self.tools += (
                Tool("idle", (), self.formula(1, []) if self.chance(0.4) else Truth(True), (), True),
            )
        gates = []
        if "gates" in self.on:
            mine = tuple(tool for tool in self.tools if not tool.event)
            for name in ("g", "h")[: 1 + self.chance(0.4)]:
                words = self.random.choice([["permit"], ["forbid"], ["permit", "forbid"]])
                gates.append((name, tuple(self.rules(words, mine, self.random.randrange(1, 4)))))
        terminal: list[Formula] = []
        if "terminal" in self.on:
            terminal = [self.formula(2, []) for _ in range(self.random.randrange(1, 3))]
            if self.chance(0.6):
                terminal.append(Truth(True))
        initially: tuple[str, ...] = ()
        where: Formula = Truth(True)
        if self.chance(0.2):
            initially = ("P",) if not self.kept and self.chance(0.6) else ("F",)
            if "Q" in self.relations and self.chance(0.5):
                initially = ("Q",)
            steps, self.on = self.on, self.on - {"did"}  # none leads to an initial state
            where = self.formula(2, [], past=False, plain=True)
            self.on = steps
        specs = []
        for i in range(4):
            only: tuple[str, ...] = ()
            if "for" in self.on and self.chance(0.3):
                names = ["any", "pann", "qbob", "ann", "p", "g"]
                known = {"any", *(name for name, _ in gates)}
                known |= {a.name for a in agents if a.name}
                known |= {name for a in agents for name, _ in a.policies}
                only = tuple(self.random.sample([n for n in names if n in known], 1))
            expect = self.random.choice(["fails", "holds", None]) if "for" in self.on else None
            specs.append(Spec(f"s{i}", self.sentence(3, []), only, expect))
        return Deployment(
            tuple(self.sorts),
            tuple(self.relations.values()),
            self.tools,
            agents,
            tuple(specs),
            tuple(self.by_name(fact) for fact in self.init),
            initially,
            where,
            (("a", self.bound),),
            tuple(gates),
            tuple(terminal),
            (self.formula(1, [], past=False),) if "fair" in self.on and self.chance(0.3) else (),
        )


def deployment(random: Random, constructs: tuple[str, ...] = ALL) -> Deployment:
    return Maker(random, constructs).deployment()


def settings(random: Random, d: Deployment) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return which agents to verify it with, each ``any`` or a policy, and behind which gates."""
    agents = {a.name: random.choice(["any", *(name for name, _ in a.policies)]) for a in d.agents}
    gates = tuple(name for name, _ in d.gates if random.random() < 0.6)
    return agents, gates
