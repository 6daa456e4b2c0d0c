"""The screen of `stead-sym simulate`: the state, the possible steps, the run so far.

One decision: everything is printed as plain text, never as markup, and each colour has a sign with the same
meaning: `+` new, `-` gone, `>` a call that an agent would make, `.` one that it was only offered, `!` an
event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Footer, Label, OptionList, Static
from textual.widgets.option_list import Option

from stead_sym.agents.roles import named_wrappers
from stead_sym.cli.stepping import Choice, Stepper
from stead_sym.deployment.trace import Step, Trace, as_changes
from stead_sym.errors import SteadError
from stead_sym.evidence.moves import MOST_OUTCOMES
from stead_sym.relational.instance import Fact, Instance
from stead_sym.support.printable import printable
from stead_sym.verification.verdict import verdict_line
from stead_sym.verification.verify import verify

_MIN_ROWS_WITH_RUN = 16
"""The minimum number of rows of a terminal that shows the run too."""


class Rows(OptionList):
    """A list whose keys do nothing if the terminal has no room for it."""

    def action_page_up(self) -> None:
        """Move up by a page."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Move down by a page."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]


class Picker(ModalScreen[int | None]):
    """A list to pick one item from; the result is None if nothing is picked."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "back", "back")]

    def __init__(self, title: str, rows: Sequence[Text]) -> None:
        super().__init__()
        self._title = title
        self._rows = rows
        self._left = False

    def compose(self) -> ComposeResult:
        """Yield the title and the list below it."""
        with Vertical(id="picker"):
            yield Label(Text(printable(self._title)))
            yield Rows(*(Option(row) for row in self._rows))
            yield Footer()

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self._leave(event.option_index)

    def action_back(self) -> None:
        """Pick nothing."""
        self._leave(None)

    def _leave(self, picked: int | None) -> None:
        if not self._left:  # a key may come twice before the screen is gone
            self._left = True
            self.dismiss(picked)


class StepperApp(App[None]):
    """The stepper."""

    TITLE = "stead-sym simulate"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #title { height: 1; background: $primary; color: $text; padding: 0 1; }
    #faults { height: auto; max-height: 3; color: $error; padding: 0 1; display: none; }
    #middle { height: 1fr; }
    .box { border: round $primary; border-title-color: $text; padding: 0 1; }
    #state-box { width: 1fr; }
    #choices { width: 1fr; height: 100%; background: $background; }
    #past { height: 8; }
    Picker { align: center middle; }
    #picker { width: 90%; height: 80%; border: round $primary; background: $surface; padding: 0 1; }
    #picker OptionList { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("u,left", "undo", "undo"),
        ("r,right", "redo", "redo"),
        ("e", "evidence", "evidence"),
        ("i", "initial", "start"),
        ("q", "quit", "quit"),
    ]

    def __init__(self, stepper: Stepper) -> None:
        super().__init__()
        self.stepper = stepper
        self.choices: Mapping[Option, Choice] = {}
        """The choices in the state, by their rows on the screen."""

    def compose(self) -> ComposeResult:
        """Yield the title, the state beside the choices, and the run below them."""
        yield Static(id="title")
        with Horizontal(id="middle"):
            with VerticalScroll(id="state-box", classes="box"):
                yield Static(id="state")
            yield Rows(id="choices", classes="box")
        yield Static(id="faults")
        with VerticalScroll(id="past", classes="box"):
            yield Static(id="run")
        yield Footer()

    def on_mount(self) -> None:
        """Show the current position of the run."""
        self.query_one("#state-box").border_title = "state"
        self.query_one("#choices").border_title = "what could happen (Enter)"
        self.query_one("#past").border_title = "run"
        self._show()
        self.query_one("#choices").focus()

    def on_resize(self, event: Resize) -> None:
        """Hide the run in a small terminal, which then shows the state and the choices."""
        self.query_one("#past").display = event.size.height >= _MIN_ROWS_WITH_RUN

    def action_undo(self) -> None:
        """Undo a step."""
        if self.stepper.back():
            self._show()

    def action_redo(self) -> None:
        """Take a step of the run again."""
        if self.stepper.forward():
            self._show()

    @on(OptionList.OptionSelected, "#choices")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        choice = self.choices.get(event.option)
        if choice is None:  # a key pressed before the screen was updated: the row belongs to an earlier state
            return
        if len(choice.after) == 1:
            self._take(choice, choice.after[0])
        elif choice.after:
            self._ask_outcome(choice)

    @work
    async def _ask_outcome(self, choice: Choice) -> None:
        rows = [changes_text(self.stepper.state, after) for after in choice.after]
        place = self.stepper.run, self.stepper.position
        many = f"{MOST_OUTCOMES} of them, or more" if len(rows) == MOST_OUTCOMES else str(len(rows))
        picked = await self.push_screen_wait(Picker(f"{choice.call}: outcomes, {many}", rows))
        if picked is None:
            return
        if place == (self.stepper.run, self.stepper.position):
            self._take(choice, choice.after[picked])
        else:  # evidence was loaded in the meantime
            self._say("the run is another one now; choose again", "information")

    @work
    async def action_initial(self) -> None:
        """Restart from one of the initial states."""
        starts = self.stepper.starts
        picked: int | None = 0
        if len(starts) > 1:
            rows = [Text(printable(state)) for state in starts]
            picked = await self.push_screen_wait(Picker("begin with", rows))
        if picked is not None:
            self.stepper.start_at(starts[picked])
            self._show()

    @work
    async def action_evidence(self) -> None:
        """Verify a specification, and move to the start of the run that shows its verdict."""
        specs = self.stepper.deployment.written.specs
        if not specs:
            self.notify("the deployment has no specification")
            return
        rows = [Text.assemble((spec.name, "bold"), f"  {spec.formula}") for spec in specs]
        picked = await self.push_screen_wait(Picker("verify, and jump into the evidence for", rows))
        if picked is not None:
            self.notify(f"verifying {specs[picked].name} …")
            self._verify(specs[picked].name)

    @work(thread=True, exclusive=True)
    def _verify(self, spec: str) -> None:
        given = {
            name: "any" if wrapper is None else wrapper for name, wrapper in self.stepper.wrappers.items()
        }
        try:
            verdict = verify(self.stepper.deployment, given, spec, findings=False)[spec]
        except SteadError as error:
            self.call_from_thread(self._say, str(error), "error")
            return
        if verdict.trace is None:
            said = str(verdict) if verdict.reason or verdict.scope else f"{verdict}: no single run shows it"
            self.call_from_thread(self._say, said, "information")
        else:
            remarks = (verdict.trace.claim, *verdict.scope)
            self.call_from_thread(self._follow, verdict.trace, verdict_line(spec, verdict.word, remarks))

    def _say(self, text: str, severity: str) -> None:
        self.notify(printable(text), severity="error" if severity == "error" else "information", markup=False)

    def _follow(self, run: Trace, claim: str) -> None:
        self.stepper.follow(run)
        self._say(f"{claim}; `r` goes along the run", "information")
        self._show()

    def _take(self, choice: Choice, after: Instance) -> None:
        self.stepper.take(choice, after)
        self._show()

    def _show(self) -> None:
        stepper = self.stepper
        faults: list[str] = []
        choices: tuple[Choice, ...] = ()
        try:
            choices = stepper.choices()
            faults += stepper.faults(choices)
        except SteadError as error:
            faults.append(str(error))
        title = f"{stepper.deployment.name} under {named_wrappers(stepper.wrappers, 'any agent')}"
        place = f"step {stepper.position} of {len(stepper.run.steps)}"
        self.query_one("#title", Static).update(Text(printable(f"{title}   {place}")))
        self.query_one("#state", Static).update(state_text(stepper.state, *stepper.changed))
        rows = self.query_one("#choices", OptionList)
        rows.clear_options()
        several = len(stepper.deployment.agents) > 1
        self.choices = {Option(row_text(choice, several=several)): choice for choice in choices}
        rows.add_options(self.choices)
        if self.choices:
            rows.highlighted = 0
        fault = self.query_one("#faults", Static)
        fault.display = bool(faults)
        fault.update(Text(printable("; ".join(faults))))
        self.query_one("#run", Static).update(run_text(stepper.run, stepper.position))


# the contents of the screen, as text


def state_text(state: Instance, added: Sequence[Fact], removed: Sequence[Fact]) -> Text:
    """Return the facts, relation by relation, with the changes of the last step."""
    lines = [
        (fact, "+ " if fact in added else "  ", "bold green" if fact in added else "") for fact in state.facts
    ]
    lines += [(fact, "- ", "red strike") for fact in removed]
    order = {relation.name: number for number, relation in enumerate(state.schema.relations)}
    lines.sort(key=lambda line: (order[line[0].relation], str(line[0])))
    if not lines:
        return Text("no facts", "dim")
    return Text("\n").join(Text(f"{mark}{printable(fact)}", style) for fact, mark, style in lines)


def row_text(choice: Choice, *, several: bool) -> Text:
    """Return a choice in a line: its actor, its call, and the number of outcomes."""
    mark, style = (
        ("!", "cyan") if choice.actor is None else (">", "bold") if choice.selected else (".", "dim")
    )
    who = "event " if choice.actor is None else f"{choice.actor}: " if several else ""
    many = len(choice.after)
    more = f"  {many} outcomes" if many > 1 else "" if many else "  leads nowhere"
    return Text.assemble((f"{mark} {printable(f'{who}{choice.call}')}", style), (more, "dim"))


def changes_text(before: Instance, after: Instance) -> Text:
    """Return the changes of one outcome."""
    changes = as_changes(after.schema, after.facts - before.facts, before.facts - after.facts)
    return Text(printable(", ".join(map(str, changes)) or "no change"))


def run_text(run: Trace, position: int) -> Text:
    """Return the steps, with the current one marked and those ahead dimmed."""
    if not run.steps:
        return Text("no step is taken yet", "dim")
    lines = [_step(number, step, position) for number, step in enumerate(run.steps, 1)]
    if run.loop is not None:
        lines.append(Text(run.repeats, "dim"))
    return Text("\n").join(lines)


def _step(number: int, step: Step, position: int) -> Text:
    here = "▸" if number == position else " "
    return Text(f"{here} {number}. {printable(step.label)}", "dim" if number > position else "")
