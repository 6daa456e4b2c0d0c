"""Language models as base agents: what runs them, and how they are asked."""
