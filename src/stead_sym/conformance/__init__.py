"""Whether a deployment and a running system are the same: its tools, run on the states of the model."""
