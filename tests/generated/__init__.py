"""Schemas, instances, formulas and deployments drawn by hypothesis, for every engine to agree on."""
