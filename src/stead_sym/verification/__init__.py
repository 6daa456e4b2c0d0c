"""From a deployment, an agent and specifications to verdicts, with their hypotheses and findings."""
