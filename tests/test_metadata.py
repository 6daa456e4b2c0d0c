"""What the installed package says about itself: licence, authors, purpose, and the history of its versions.

Read from the metadata that the build has made, not from `pyproject.toml`; after a change there the package
has to be installed again.
"""

import hashlib
import re
from importlib.metadata import distribution
from pathlib import Path

import stead_sym

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
