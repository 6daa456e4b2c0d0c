"""Every notebook runs from top to bottom, and lies in the repository without outputs."""

import json
from functools import cache
from pathlib import Path

import nbclient
import nbformat
import pytest

import stead_sym as st
from shared_folder import shared_folder

pytestmark = pytest.mark.gate

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WITH_A_MODEL = {"trained_model"}
"""They run where there are language models, in `tests/models`."""
SMALLER = {
    "scaling": (("(2, (5, 6))", "(2, (5,))"), ("for b in (1, 2):", "for b in (1,):")),
    "case_study": (("range(50)", "range(10)"), ("of 50", "of 10")),
}
"""Texts of notebooks, and those in their place that make the tests do less."""


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


@cache
def executed(path: Path) -> nbformat.NotebookNode:
    """Return a notebook that was run, with smaller sizes where there are some."""
    notebook = read(path)
    for old, new in SMALLER.get(path.stem, ()):
        cells = [cell for cell in notebook.cells if cell.cell_type == "code" and old in cell.source]
        assert cells, f"{path.stem} has no {old}"
        for cell in cells:
            cell.source = cell.source.replace(old, new)
    return nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()


def test_there_is_a_worked_example() -> None:
    assert "worked_example" in {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs(path: Path) -> None:
    for cell in read(path).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.stem not in WITH_A_MODEL], ids=lambda path: path.stem
)
def test_it_runs(path: Path) -> None:
    notebook = executed(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.execution_count for cell in code)


def test_the_worked_example_shows_tables() -> None:
    [path] = (path for path in NOTEBOOKS if path.stem == "worked_example")
    notebook = executed(path)
    shown = "".join(
        output.get("data", {}).get("text/html", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    assert all(word in shown for word in ("issue_refund", "repeats for ever", "2·1 + 0 + 1 = 3", "Handler"))


@pytest.mark.parametrize(("name", "prompts"), [("records", None), ("paper", "paper-airline")])
def test_what_the_case_study_shows_is_about_the_prompts_as_they_are(
    name: str, prompts: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record of a search with a model says which prompt it is about; one that is not up to date has to be
    written anew, by the script that wrote it."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from username_search import prompt_digest

    record = json.loads((ROOT / "notebooks" / f"username_search_{name}.json").read_text(encoding="utf-8"))
    deployment = st.load(record["deployment"])
    context = st.DecisionContext(st.view(deployment, deployment.init), st.offer(deployment, deployment.init))
    given = None if prompts is None else f"{prompts}:{shared_folder() / 'paper.tex'}"
    assert record["prompt"] == prompt_digest(st.Prompt.of(deployment, given), context)
    calls = set(map(str, context.calls))
    assert set(record["selected"]) <= calls
    assert len(record["tried"]) == 32
    for tried in record["tried"]:
        assert set(tried["selected"]) <= calls
        assert tried["follows"] == (tried["selected"] == record["selected"])
        assert tried["follows"] == (tried["lead"] > 0)
