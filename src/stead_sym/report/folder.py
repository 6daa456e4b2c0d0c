"""Evidence as files: NAME.json and NAME.txt in a folder for every specification.

One decision: only files that an earlier run wrote are overwritten. This is checked before anything is
written, so that nothing is lost and no folder is left incomplete.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from stead_sym.agents.records.digest import digest
from stead_sym.agents.roles import named_wrappers
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.errors import InputError
from stead_sym.evidence.data import evidence_data
from stead_sym.evidence.document import FORMAT, Json
from stead_sym.evidence.moves import Moves
from stead_sym.report.evidence import MARKER, Subject, evidence_text, subject, subject_of
from stead_sym.report.streams import write_file
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict

_MAX_NAME_CHARACTERS = 40


def prepare(folder: Path, specs: Iterable[str]) -> None:
    """Create the folder, unless it exists, for the evidence of these specifications.

    Raises `InputError` if it cannot be written to, or if another file has the name of one of the files.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".stead-sym"
        probe.write_bytes(b"")
        probe.unlink()
        for name in file_names(specs).values():
            for path in _paths(folder, name):
                _refuse_other(path)
    except FileExistsError:
        raise InputError(f"{folder}: is no folder; give one") from None
    except OSError as error:
        raise _unwritable(Path(error.filename or folder), error) from None


def write_evidence(result: Verification | Deepening, folder: Path) -> tuple[Path, ...]:
    """Write the evidence for every verdict that has some, and return the paths of the files.

    The files of an earlier run for a verdict without evidence are removed. Raises `InputError` if an existing
    file is no evidence, or if a file cannot be written.
    """
    texts: dict[Path, str | None] = {}
    for spec, name in file_names(result.verdicts).items():
        texts |= _texts(result, result.verdicts[spec], folder, name)
    try:
        for path in texts:
            _refuse_other(path)
        for path, text in texts.items():
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(Path(error.filename or folder), error) from None
    return tuple(path for path, text in texts.items() if text is not None)


def write_early(verdict: Verdict, moves: Moves, specs: Iterable[str], folder: Path) -> None:
    """Write the evidence for one verdict before the end of the run; ``specs`` are all that were requested.

    The verdict may be about one of them, or about a claim of the file, which is checked without a request.
    """
    if verdict.evidence is not None:
        name = file_names(dict.fromkeys((*specs, verdict.spec)))[verdict.spec]
        about = subject_of(verdict, moves.deployment, named_wrappers(moves.wrappers))
        for path, text in _files(verdict, about, moves, folder, name).items():
            write_file(path, text)


def file_names(specs: Iterable[str]) -> Mapping[str, str]:
    """Return a name for the files of each specification.

    It is the specification's own name if that is valid on any file system and no other differs by case alone.
    Otherwise it is a shortened name with a digest.
    """
    names = list(specs)
    same = Counter(name.casefold() for name in names)
    return {name: name if same[name.casefold()] == 1 and _is_plain(name) else _safe(name) for name in names}


def _is_plain(name: str) -> bool:
    return len(name) <= _MAX_NAME_CHARACTERS and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None


def _safe(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:_MAX_NAME_CHARACTERS].strip("-")
    return f"{words or 'formula'}-{digest(name)[:8]}"


def _paths(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.{kind}" for kind in ("json", "txt")]


def _texts(
    result: Verification | Deepening, verdict: Verdict, folder: Path, name: str
) -> dict[Path, str | None]:
    """Return the contents of the files of a verdict, or None for files that should not exist."""
    paths = _paths(folder, name)
    moves = result.moves if isinstance(result, Verification) else result.found[verdict.spec].moves
    if verdict.evidence is None or moves is None:
        return dict.fromkeys(paths)
    return {**_files(verdict, subject(result, verdict.spec), moves, folder, name)}


def _files(verdict: Verdict, about: Subject, moves: Moves, folder: Path, name: str) -> dict[Path, str]:
    """Return the contents of the files of a verdict that has evidence."""
    data = evidence_data(verdict.spec, str(verdict.formula), about.evidence, moves)
    texts = _lines(data), evidence_text(about, moves)
    return dict(zip(_paths(folder, name), texts, strict=True))


def _lines(data: Mapping[str, Json]) -> str:
    """Return JSON with a line for each part, and one for each item of a part that is a list."""
    parts: list[str] = []
    for name, part in data.items():
        if isinstance(part, list) and part:
            items = ",\n  ".join(map(json.dumps, part))
            parts.append(f'"{name}": [\n  {items}\n ]')
        else:
            parts.append(f'"{name}": {json.dumps(part)}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _refuse_other(path: Path) -> None:
    """Raise `InputError` if the path has something that no earlier run has written."""
    if not path.exists() and not path.is_symlink():
        return
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(400).decode("utf-8", "replace")
        marker = {".json": f'{{\n "format": "{FORMAT}"', ".txt": MARKER}[path.suffix]
        if not head or head.startswith(marker):
            return
    raise InputError(f"{path}: is there already, and is no evidence of stead-sym; give another folder")


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be written ({error.strerror or error}); give another folder")
