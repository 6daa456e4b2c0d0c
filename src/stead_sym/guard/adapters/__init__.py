"""Guards in libraries of agents. A module needs its library, which is an extra of the package."""
