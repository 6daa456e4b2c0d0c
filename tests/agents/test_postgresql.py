"""Stores in PostgreSQL: passwords are never said, and what is no store or not there is one line."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa
from store_places import execute
from test_store import CONTEXTS, filled, other_selection, two_way

from postgresql import PASSWORD
from stead_sym.agents.records.digest import digest, spelled
from stead_sym.agents.records.store import Store
from stead_sym.cli.main import main
from stead_sym.errors import StoreError

pytestmark = pytest.mark.gate


def test_a_password_is_never_said(new_database, capsys, tmp_path):
    url = new_database()
    server, database = url.rsplit("/", 1)
    told = []
    with Store(url) as store:
        told.append(store.name)
        store.close()
        with pytest.raises(StoreError) as caught:
            store.get("a")
        told.append(str(caught.value))
    for words in (
        f"{server}/nothing_there",
        url.replace("open%3A", "shut%3A"),
        url.replace("stead:", "somebody:"),
        f"{url}?odd={PASSWORD}",
        f"{url}?password={PASSWORD}&sslmode=odd",
        url.replace("127.0.0.1", "[127.0.0.1"),
        url.replace("postgresql+psycopg", "mysql"),
        url.replace("postgresql+psycopg", "nothing"),
    ):
        assert main(["decisions", "list", "--store", words]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        told.append(error)
    assert main(["decisions", "salvage", url, str(tmp_path / "new.sqlite")]) == 0
    assert main(["decisions", "salvage", str(tmp_path / "new.sqlite"), url]) == 0
    told.extend(capsys.readouterr())
    assert database in told[0]
    for text in told:
        assert "sesame" not in text


def test_a_database_without_a_store(new_database, capsys):
    url = new_database()
    assert main(["decisions", "list", "--store", url]) == 2
    assert "there is no store of decisions; name the database of one" in capsys.readouterr().err
    assert execute(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []
    execute(url, "CREATE TABLE decision (x int)")
    with pytest.raises(StoreError, match="a database, but no store of decisions of version 2"):
        Store(url)


def test_a_server_that_is_not_there(new_database):
    url = new_database()
    with Store(url) as store:
        execute(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        store.put_nodes({"a": [-1.0]})  # a connection that was cut is made again
        assert store.get_nodes(["a"]) == {"a": (-1.0,)}
    gone = url.replace(url.rsplit(":", 1)[1].split("/")[0], "1")
    with pytest.raises(
        StoreError, match=r"postgresql://127.0.0.1:1/\w+: .*refused.*; name one that can be used"
    ):
        Store(gone)


def test_a_decision_that_another_is_just_adding_is_compared_with(new_database, tmp_path):
    """Its row is not yet to be seen when this one looks, and is there when it adds."""
    url = new_database()
    answer = two_way(filled(str(tmp_path / "other.sqlite"), CONTEXTS))
    other = other_selection(answer)
    caught = []
    with Store(url) as store:
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        values = {
            "key": other.key,
            "body": spelled(other.data()),
            "digest": digest([other.key, other.data()]),
        }

        def put():
            try:
                store.put(answer)
            except StoreError as error:
                caught.append(str(error))

        with engine.begin() as connection:
            adding = sa.text("INSERT INTO decision (key, body, digest) VALUES (:key, :body, :digest)")
            connection.execute(adding, values)
            thread = threading.Thread(target=put)
            thread.start()
            thread.join(0.5)
            assert thread.is_alive()  # it waits for the other to be done
        thread.join(20)
        assert len(caught) == 1
        assert "decision 1 selects" in caught[0]
        assert [kept for _, kept in store.answers()] == [other]
