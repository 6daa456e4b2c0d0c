"""Safety for every number of records, by views of at most k of them; the theorem is in `views.needs`."""
