"""Language models for tests of agents: one without any library, and a small one that is built on demand."""
