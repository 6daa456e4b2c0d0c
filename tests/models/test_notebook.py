"""The notebook in which a small model is trained and verified."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
from backends import needs

needs("hf", "torch", "transformers")
needs("notebook", "pandas")

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "trained_model.ipynb"


def test_it_runs_and_shows_tables_and_a_drawing() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    shown = [output.get("data", {}) for cell in code for output in cell.outputs]
    assert any("image/svg+xml" in data for data in shown)
    assert sum("<table" in data.get("text/html", "") for data in shown) >= 3
