"""Decision diagrams and what knows nothing of deployments: the manager, relations, their fixpoints."""
