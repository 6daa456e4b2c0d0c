"""Compare a deployment with a running system, whose tools are run on the states of the model."""
