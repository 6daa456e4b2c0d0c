"""The metadata of the installed package: licence, authors, purpose, and the history of its versions.

Read from the metadata that the build has made, not from `pyproject.toml`; after a change there the package
has to be installed again.
"""

import hashlib
import re
from importlib.metadata import distribution
from pathlib import Path

import stead_sym
from stead_sym.support.extras import install

ROOT = Path(__file__).resolve().parents[1]
METADATA = distribution("stead-sym").metadata
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the licence's text as the Apache Software Foundation publishes it."""


def test_the_licence_is_named_in_the_metadata() -> None:
    assert METADATA["License-Expression"] == "Apache-2.0", "install the package again"
    assert METADATA.get_all("License-File") == ["LICENSE"]
    # with a licence expression the classifiers of licences are not allowed
    assert not [c for c in METADATA.get_all("Classifier", []) if c.startswith("License")]


def test_the_licence_comes_with_the_package_unaltered() -> None:
    packaged = distribution("stead-sym").read_text("licenses/LICENSE")
    assert packaged is not None
    assert packaged == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert hashlib.sha256(packaged.encode()).hexdigest() == APACHE_2


def test_who_made_it_and_what_it_is_for() -> None:
    assert METADATA["Author"] == "stead-sym developers"
    assert METADATA["Version"] == stead_sym.__version__
    assert METADATA["Requires-Python"] == ">=3.11"
    assert METADATA["Description-Content-Type"] == "text/markdown"
    assert {"model checking", "language models"} <= set(METADATA["Keywords"].split(","))
    classifiers = METADATA.get_all("Classifier", [])
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11"} <= set(classifiers)
    assert len(classifiers) == len(set(classifiers))


def test_a_package_that_says_it_is_typed_is() -> None:
    assert (Path(stead_sym.__file__).parent / "py.typed").is_file()


def test_the_changelog_starts_with_what_is_unreleased_and_has_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[([^\]]+)\]", text, re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert stead_sym.__version__ in versions
    assert len(versions) == len(set(versions))
    kinds = set(re.findall(r"^### (.*)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert kinds


def test_the_readme_names_the_licence() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Licence\n")[1]
    assert "Apache" in section
    assert "(LICENSE)" in section


WRITTEN = [
    path
    for folder in ("docs", "src", "tests", "notebooks", "editor")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".md", ".py", ".ipynb", ".sh", "")
    and path.is_file()
    and "node_modules" not in path.parts
] + [
    *ROOT.glob("*.md"),
    ROOT / "Dockerfile",
    ROOT / "pyproject.toml",
    *(path for path in sorted((ROOT / ".ci").iterdir()) if path.is_file()),  # not what is installed there
]


def test_no_text_installs_the_package_from_a_registry() -> None:
    """It is in none, so the command would fail, or install what somebody else has put there."""
    name = "stead" + "[-_]sym"
    wrong = re.compile(rf"{name}\[|pip3? install (?:[^\n`;&|]* )?['\"]?{name}(?![\w/.-])")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in WRITTEN
        for match in wrong.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
    assert wrong.search("pip install -q 'stead-" + "sym'")
    assert not wrong.search("pip install wheels/stead_" + "sym-0.1.0-py3-none-any.whl")


def test_libraries_that_a_page_installs_are_those_of_an_extra() -> None:
    """Which is also what a message says where one is missing."""
    listed = {install(extra) for extra in METADATA.get_all("Provides-Extra", [])}
    for path in WRITTEN:
        if path.suffix == ".md":
            for command in re.findall(
                r"pip install(?: '[^'\n]*[<>=][^'\n]*')+", path.read_text(encoding="utf-8")
            ):
                assert command in listed, path


def test_what_a_missing_library_is_said_to_need() -> None:
    assert install("tui") == "pip install 'textual>=1.0'"
    assert install("llama").startswith("pip install 'cyllama")
    assert install("llama").count("'") == 4
