"""For tests of deployments: hypothesis strategies, and the definitions by brute force."""
