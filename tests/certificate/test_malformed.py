"""Whatever the files of a certificate hold, the check ends in one line or accepts the true verdicts."""

from __future__ import annotations

import copy
import json
import random
import shutil

import pytest

import stead_sym as st
from altered import checked, verdict_words
from engine_pairs import examples
from stead_sym.certificate.files import read_json

JUNK = (
    None,
    True,
    -1,
    3,
    10**30,
    1e400,
    0.5,
    "",
    "x",
    "\u0000",
    "\ud800",
    "a" * 10_000,
    [],
    {},
    [[]],
    ["T", "F"],
    {"rule": "each", "parts": []},
    [["P", ["u"]]],
)
"""The values that replace a part of a certificate."""

FILES = ("certificate.json", "diagrams.json")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate with runs, rings, closed sets, decisions and names."""
    directory = tmp_path_factory.mktemp("certificate")
    return st.write_certificate(st.verify(st.load("refund"), "baseline", findings=False), directory)


@pytest.fixture
def copied(certificate, tmp_path):
    return shutil.copytree(certificate, tmp_path / "copy")


def places(data, path=()):
    """The paths to everything in JSON data."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def corrupted(data, choose):
    """The data with something replaced, dropped or doubled."""
    data = copy.deepcopy(data)
    *path, last = choose.choice([path for path in places(data) if path])
    inner = data
    for key in path:
        inner = inner[key]
    match choose.randrange(4):
        case 0:
            del inner[last]
        case 1 if isinstance(inner, list):
            inner.insert(last, copy.deepcopy(inner[last]))
        case _:
            inner[last] = copy.deepcopy(choose.choice(JUNK))
    return data


@pytest.mark.parametrize("file", FILES)
def test_corrupted_data(certificate, copied, file):
    original, choose = read_json(copied / file), random.Random(file)
    words = verdict_words(read_json(certificate / "certificate.json"))
    refused = 0
    for _ in range(examples(80, slow=5000)):
        data = corrupted(original, choose)
        (copied / file).write_text(json.dumps(data), encoding="utf-8")
        if checked(copied) is None:
            stated = verdict_words(data) if file == "certificate.json" else words
            assert stated.items() <= words.items()
        else:
            refused += 1
    assert refused


@pytest.mark.parametrize("file", FILES)
def test_truncated_files(copied, file):
    content = (copied / file).read_bytes()
    for length in range(0, len(content), max(1, len(content) // examples(20, slow=500))):
        (copied / file).write_bytes(content[:length])
        assert isinstance(checked(copied), st.InputError)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"null", b"[]", b"[" * 100_000, b'{"a":' * 5_000, b"9" * 10_000, b"\x00"],
    ids=["empty", "no text", "null", "a list", "deep lists", "deep objects", "a long number", "a zero"],
)
def test_files_that_are_no_certificate(copied, file, content):
    (copied / file).write_bytes(content)
    assert isinstance(checked(copied), st.InputError)


def test_a_directory_that_is_not_there(tmp_path):
    assert isinstance(checked(tmp_path / "nothing"), st.InputError)


@pytest.mark.parametrize(
    "node", [[0, "5", "T"], [0, 99999, "T"], [0, "T"], [99, "T", "F"], ["0", "T", "F"], [0, True, "F"], 7]
)
def test_nodes_that_are_none(copied, node):
    data = read_json(copied / "diagrams.json")
    first = next(name for name in data if name.isdecimal())
    data[first] = node
    (copied / "diagrams.json").write_text(json.dumps(data), encoding="utf-8")
    assert isinstance(checked(copied), st.InputError)


def test_diagrams_with_a_cycle(copied):
    data = read_json(copied / "diagrams.json")
    nodes = [name for name in data if name.isdecimal()]
    data[nodes[0]] = [0, int(nodes[-1]), "T"]
    (copied / "diagrams.json").write_text(json.dumps(data), encoding="utf-8")
    assert isinstance(checked(copied), st.InputError)


def test_a_proof_that_is_nested_deep(copied):
    data = read_json(copied / "certificate.json")
    proof = {"rule": "initially"}
    for _ in range(400):
        proof = {"rule": "one", "part": 0, "proof": proof}
    data["specs"][0]["proof"] = proof
    (copied / "certificate.json").write_text(json.dumps(data), encoding="utf-8")
    assert isinstance(checked(copied), st.certificate.CertificateRejected), "deeper than its formula"


def test_the_text_is_not_that_of_the_digest(copied):
    data = read_json(copied / "certificate.json")
    data["deployment"]["text"] += "\n"
    (copied / "certificate.json").write_text(json.dumps(data), encoding="utf-8")
    assert "digest" in str(checked(copied))


def test_a_name_of_many_lines(copied):
    data = read_json(copied / "certificate.json")
    data["deployment"]["name"] = data["deployment"]["text"]
    (copied / "certificate.json").write_text(json.dumps(data), encoding="utf-8")
    said = str(checked(copied))
    assert "is called refund, not " in said
    assert "\n" not in said
    assert len(said) < 300


def test_another_format(copied):
    data = read_json(copied / "certificate.json")
    data["format"] = "stead-sym certificate 1"
    (copied / "certificate.json").write_text(json.dumps(data), encoding="utf-8")
    assert "this version reads" in str(checked(copied))
