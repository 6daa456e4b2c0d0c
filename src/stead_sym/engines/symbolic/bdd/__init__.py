"""Binary decision diagrams, independent of deployments: the manager, relations, their fixpoints."""
