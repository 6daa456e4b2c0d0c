"""Words to backends: what cannot be meant, and what is not installed, is one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stead_sym.agent.models.backends import KINDS, open_backend
from stead_sym.cli.main import main
from stead_sym.errors import InputError, ModelError
from stead_sym.testing import small_model


@pytest.mark.parametrize("words", ["", "hf", "hf:", "vllm:", "llama:", "gpt:4", "/a/folder"])
def test_words_that_name_no_backend(words):
    with pytest.raises(InputError) as caught:
        open_backend(words)
    assert str(caught.value) == (
        f"unknown agent {words!r}; write any, or a model as smollm2 or hf:MODEL or vllm:MODEL or"
        " vllm:http://HOST:PORT#MODEL or llama:FILE.gguf, or an agent of another kind as"
        " python:MODULE:OBJECT or openai:http://HOST/v1#MODEL"
    )
    assert len(KINDS) == 5
    with pytest.raises(InputError, match=r"^unknown agent 'smolm2'; did you mean smollm2\?$"):
        open_backend("smolm2")


@pytest.mark.parametrize(
    ("words", "library", "extra"),
    [
        ("hf:MODEL", "torch", "hf"),
        ("hf:smollm2", "torch", "hf"),
        ("vllm:MODEL", "vllm", "vllm"),
        ("vllm:smollm2", "torch", "vllm"),
        ("smollm2", "cyllama", "llama"),
        ("llama:FILE.gguf", "cyllama", "llama"),
        ("vllm:http://127.0.0.1:1#MODEL", "aiohttp", "server"),
    ],
)
def test_a_library_that_is_not_installed(monkeypatch, tmp_path, capsys, words, library, extra):
    """That is said before anything is fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setitem(sys.modules, library, None)  # what Python does for a module that is not there
    with pytest.raises(ModelError):
        open_backend(words)
    assert main(["verify", "refund", "--agent", words, "--store", str(tmp_path / "d.sqlite")]) == 2
    name = words if library == "cyllama" else words.split(":", 1)[1].split("#")[0]
    assert capsys.readouterr().err == (
        f"stead-sym: {name} needs the library {library}, which is not installed; "
        f"pip install 'stead-sym[{extra}]'\n"
    )


def test_importing_the_package_and_the_backends_imports_no_library_of_models_or_databases():
    code = (
        "import sys, stead_sym, stead_sym.cli.main, stead_sym.agent.models.huggingface,"
        " stead_sym.agent.models.llama_cpp, stead_sym.agent.models.convert,"
        " stead_sym.agent.models.vllm_offline, stead_sym.agent.models.vllm_server;"
        "print(sorted({'aiohttp', 'cyllama', 'jinja2', 'pandas', 'pyarrow', 'ray', 'safetensors',"
        " 'sqlalchemy', 'textual', 'torch', 'transformers', 'vllm'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_the_small_model_says_which_extra_it_needs(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "argv", ["small_model", str(tmp_path / "made")])
    with pytest.raises(SystemExit) as ended:
        small_model.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "the small model needs the library torch, which is not installed; pip install 'stead-sym[hf]'\n"
    )
    assert not (tmp_path / "made").exists()
