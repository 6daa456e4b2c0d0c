"""Convert the weights of a GGUF file to 32 bits: for llama.cpp, and for `transformers` and vLLM.

The decision: quantized weights are widened once, exactly, and kept. Engines that compute with quantized
weights also round the activations, each in its own way; with 32 bits all of them agree.
"""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from stead_sym.errors import ModelError
from stead_sym.models.catalogue import Say, made_once, models_folder
from stead_sym.models.tokenizer import library, reporting

_ALL_32_BITS = 0  # llama.cpp's LLAMA_FTYPE_ALL_F32


def llama_library(name: str) -> Any:
    """Return llama.cpp's functions and classes, with logging disabled; `ModelError` if not installed."""
    library("cyllama", name, "llama")
    llama = library("cyllama.llama.llama_cpp", name, "llama")
    llama.disable_logging()
    return llama


def float32_gguf(source: Path, digest: str, say: Say) -> Path:
    """Return the file ``source``, whose SHA-256 is ``digest``, with all weights in 32 bits, by llama.cpp."""
    llama = llama_library(str(source))

    def fill(folder: Path) -> None:
        say(f"widening the weights of {source} to 32 bits, once")
        options = llama.LlamaModelQuantizeParams()
        options.ftype = _ALL_32_BITS
        options.allow_requantize = True
        try:
            llama.model_quantize(str(source), str(folder / "model.gguf"), options)
        except RuntimeError:
            raise ModelError(
                f"{source}: llama.cpp cannot widen its weights; use --engine-option dtype=auto"
            ) from None

    return made_once(models_folder() / f"float32-{digest[:16]}", fill) / "model.gguf"


def needs_to_convert(name: str, extra: str) -> None:
    """Raise `ModelError` if a library that `safetensors_folder` needs is not installed."""
    for module in ("torch", "transformers", "gguf", "accelerate"):
        library(module, name, extra)


def safetensors_folder(source: Path, digest: str, name: str, extra: str, say: Say) -> Path:
    """Return a folder for `transformers` and vLLM: weights, configuration, tokenizer and chat template."""
    transformers = library("transformers", name, extra)

    def fill(folder: Path) -> None:
        say(f"converting {name} to safetensors, once")
        transformers.utils.logging.disable_progress_bar()
        where = str(source.parent)
        load = transformers.AutoModelForCausalLM.from_pretrained
        with redirect_stderr(StringIO()):  # suppress a progress bar for every tensor
            model = reporting(where, lambda: load(where, gguf_file=source.name, dtype="float32"))
        _no_longer_quantized(model)
        model.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(where, gguf_file=source.name).save_pretrained(folder)

    return made_once(models_folder() / f"safetensors-{digest[:16]}", fill)


def _no_longer_quantized(model: Any) -> None:
    """Remove the quantization settings, which would otherwise be saved with the widened weights."""
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
