"""The mutation check tells apart what fails, what passes and what comes to no end."""

import pytest

from mutation import MUTATIONS, PACKAGE, Outcome, _first_failure


@pytest.mark.parametrize(
    ("body", "limit", "killer", "endless"),
    [
        ("assert True", None, "", False),
        ("assert False", None, "test_it.py::test", False),
        ("while True: pass", 5, "", True),
    ],
)
def test_outcomes(tmp_path, body, limit, killer, endless):
    file = tmp_path / "test_it.py"
    file.write_text(f"def test():\n    {body}\n", encoding="utf-8")
    found = _first_failure(str(tmp_path), (str(file),), limit)
    assert found.killer.endswith(killer)
    assert found == Outcome(found.killer, endless)
    assert found.killed == (bool(killer) or endless)
    assert ("no end" in str(found)) == endless


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mutation_is_up_to_date(mutation):
    """Who changes a line that a mutation is of brings the mutation up to date."""
    compile(mutation.text(PACKAGE), mutation.path, "exec")
