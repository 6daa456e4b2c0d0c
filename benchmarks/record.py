"""The recorded decisions of a model that come with the package, made anew.

    python benchmarks/record.py [smollm2]

The model decides the packaged example `refund` under the prompts of the package, in both domains, and what it
decided replaces the recording. To be run whenever what a model is shown has changed: prompts, canonical
names, how a decision is recorded. `tests/agent/test_recorded.py` tells when it has.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.replay import export_lines
from stead_sym.agents.records.store import Store
from stead_sym.deployment.files import load
from stead_sym.models.agent import ModelAgent
from stead_sym.models.backends import open_backend
from stead_sym.models.catalogue import CATALOGUE
from stead_sym.verification.verify import verify

EXAMPLE = "refund"
FOLDER = Path(__file__).resolve().parents[1] / "src" / "stead_sym" / "agents" / "records" / "recorded"


def record(model: str) -> list[str]:
    """The lines of the recording."""
    desk = load(EXAMPLE)
    with Store() as store:
        agent = ModelAgent(
            open_backend(model, say=lambda line: print(line, file=sys.stderr)), Prompt.of(desk), store
        )
        for domain in ("normal", "theorem"):
            print(verify(desk, agent, domain=domain), file=sys.stderr)
        return list(export_lines(answer for _, answer in store.answers()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the decisions of a model for the package.")
    parser.add_argument("model", nargs="?", default="smollm2", choices=sorted(CATALOGUE))
    model = parser.parse_args().model
    path = FOLDER / f"{model}.jsonl"
    path.write_text("".join(f"{line}\n" for line in record(model)), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
