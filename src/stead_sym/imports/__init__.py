"""From a running system to a deployment: schemas of databases and of tools, and the draft that they give."""
