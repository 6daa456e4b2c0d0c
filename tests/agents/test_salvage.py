"""A damaged store: what is sound is kept in another one, and what is lost is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_places import execute, tamper
from test_store import CONTEXTS, filled, insert_again, other_selection, prompt, two_way

from stead_sym.agents.records.salvage import salvage
from stead_sym.agents.records.store import Store
from stead_sym.cli.main import main
from stead_sym.errors import StoreError
from stead_sym.models.agent import ModelAgent
from stead_sym.testing.byte_model import ByteModel

pytestmark = pytest.mark.gate


def salvaged(old, new):
    with Store(old) as damaged, Store(new) as fresh:
        return salvage(damaged, fresh), [answer for _, answer in fresh.answers()]


def test_all_of_a_sound_store_is_kept(place, tmp_path):
    kept = filled(place, CONTEXTS)
    new = str(tmp_path / "new.sqlite")
    found, answers = salvaged(place, new)
    assert (found.decisions, found.lost) == (30, ())
    assert answers == kept
    rows = "SELECT key, body, digest FROM {} ORDER BY key"
    for table in ("decision", "node"):
        assert execute(new, rows.format(table)) == execute(place, rows.format(table))
    asked = []
    with Store(new) as store:
        ModelAgent(ByteModel(seen=asked.append), prompt, store).select(CONTEXTS)
    assert asked == []


def test_a_store_moves_to_another_kind_of_database(place, new_database, tmp_path):
    kept = filled(place)
    new = str(tmp_path / "new.sqlite") if "://" in place else new_database()
    assert salvaged(place, new)[1] == kept


def test_corrupt_rows_are_left_out_and_named(place, tmp_path, capsys):
    kept = filled(place)
    tamper(place, "UPDATE decision SET body = replace(body, 'issue_refund', 'obtain_approval') WHERE id = 2")
    tamper(place, "UPDATE node SET digest = 'f00' WHERE id = 1")
    tamper(place, "UPDATE decision SET key = 'another' WHERE id = 3")
    nodes = execute(place, "SELECT count(*) FROM node")[0][0]
    new = str(tmp_path / "new.sqlite")
    assert main(["decisions", "salvage", place, new]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"lost: decision 2 (key {kept[1].key[:12]}): is corrupt (its digest does not match)",
        "lost: decision 3 (key another): is corrupt (its digest does not match)",
        f"lost: node 1 (key {execute(place, 'SELECT key FROM node WHERE id = 1')[0][0][:12]}): is corrupt "
        "(its digest does not match)",
        f"{new}: 1 decisions and {nodes - 1} nodes kept, 3 lost",
    ]
    with Store(new) as store:
        assert [answer for _, answer in store.answers()] == kept[:1]


def test_of_two_answers_that_disagree_neither_is_kept(place, tmp_path):
    answers = filled(place, CONTEXTS)
    answer = two_way(answers)
    insert_again(place, next(other for other in answers if other != answer))  # one that agrees is kept once
    insert_again(place, other_selection(answer))
    found, kept = salvaged(place, str(tmp_path / "new.sqlite"))
    assert found.decisions == 29
    number = answers.index(answer) + 1
    assert [(lost.number, lost.why) for lost in found.lost] == [
        (number, "says something else than 32 for one key"),
        (32, f"says something else than {number} for one key"),
    ]
    assert kept == [a for a in answers if a != answer]


@pytest.mark.parametrize("where", [0.3, 0.6, 0.95])
def test_a_damaged_file(tmp_path, where):
    """Some pages are overwritten: what lies on the others is kept."""
    old, new = str(tmp_path / "old.sqlite"), str(tmp_path / "new.sqlite")
    answers = filled(old, CONTEXTS)
    with Path(old).open("r+b") as file:
        file.seek(0, 2)
        page = int(where * file.tell()) // 4096
        file.seek(page * 4096)
        file.write(b"\xa5" * 4096)
    found, kept = salvaged(old, new)
    assert found.lost
    assert kept
    assert all(answer in answers for answer in kept)
    assert len(kept) + sum(lost.table == "decision" for lost in found.lost) >= len(answers) - 1


def test_the_new_store_has_to_be_empty(place, tmp_path, capsys):
    filled(place)
    new = str(tmp_path / "new.sqlite")
    filled(new)
    with (
        Store(place) as old,
        Store(new) as other,
        pytest.raises(StoreError, match="there are decisions already"),
    ):
        salvage(old, other)
    assert main(["decisions", "salvage", str(tmp_path / "nowhere"), str(tmp_path / "x.sqlite")]) == 2
    assert "nowhere: there is no store of decisions" in capsys.readouterr().err
    assert not (tmp_path / "x.sqlite").exists()
