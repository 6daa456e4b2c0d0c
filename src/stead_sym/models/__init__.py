"""Language models as base agents: their backends, and the queries to them."""
