"""Many verifications, on one machine or several, with one store of decisions."""
