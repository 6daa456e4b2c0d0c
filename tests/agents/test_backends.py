"""Words to backends: what cannot be meant, and what is not installed, is one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import small_model

from stead_sym.cli.main import main
from stead_sym.errors import InputError, ModelError
from stead_sym.models.backends import KINDS, open_backend
from stead_sym.models.tokenizer import ChatTokenizer, library
from stead_sym.support.extras import install


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
    ("words", "missing", "extra"),
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
def test_a_library_that_is_not_installed(monkeypatch, tmp_path, capsys, words, missing, extra):
    """That is said before anything is fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setitem(sys.modules, missing, None)  # what Python does for a module that is not there
    with pytest.raises(ModelError):
        open_backend(words)
    assert main(["verify", "refund", "--agent", words, "--store", str(tmp_path / "d.sqlite")]) == 2
    name = words if missing == "cyllama" else words.split(":", 1)[1].split("#")[0]
    assert capsys.readouterr().err == (
        f"stead-sym: {name} needs the library {missing}, which is not installed; {install(extra)}\n"
    )


@pytest.mark.parametrize(
    "raises", ["OSError('libcudart.so.13: no such file')", "RuntimeError('no operator nms')"]
)
def test_a_library_that_does_not_load(monkeypatch, tmp_path, capsys, raises):
    """As `torchaudio` and `torchvision` beside a torch of another build."""
    for name, text in {
        "torchvision": f"raise {raises}",
        "vllm": "import torchvision",
        "transformers": "def __getattr__(name):\n    import torchvision",
        "aiohttp": "import no_such_library",
        "safetensors": "class SafetensorError(Exception): pass",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    said = raises.split("'")[1]
    mend = "pip uninstall torchvision torchaudio torchcodec, which are not used here and do not fit the torch"
    assert main(["verify", "refund", "--agent", "vllm:MODEL", "--store", str(tmp_path / "d.sqlite")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"stead-sym: MODEL: the library vllm does not load: {said}; {mend}")
    with pytest.raises(ModelError, match=f"^MODEL: a library that it needs does not load: {said}; {mend}"):
        ChatTokenizer.load("MODEL")
    with pytest.raises(
        ModelError, match=r"^M: the library aiohttp does not load: No module .*; install versions"
    ):
        library("aiohttp", "M", "server")


def test_the_documented_build_for_a_cpu_is_the_one_that_is_tested():
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs/guides/models.md").read_text()
    tested = [line for line in (root / ".ci/models.txt").read_text().split("\n") if "==" in line]
    assert f"whl/cpu {' '.join(tested)}\n" in page
    [removed] = re.findall(r'pip"? (uninstall -q -y .*)', (root / ".ci/run").read_text())
    assert f"pip {removed.replace('-q ', '')}\n" in page


def test_importing_the_package_and_the_backends_imports_no_library_of_models_or_databases():
    code = (
        "import sys, stead_sym, stead_sym.cli.main, stead_sym.models.huggingface,"
        " stead_sym.models.llama_cpp, stead_sym.models.convert,"
        " stead_sym.models.vllm_offline, stead_sym.models.vllm_server;"
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
        f"the small model needs the library torch, which is not installed; {install('hf')}\n"
    )
    assert not (tmp_path / "made").exists()
