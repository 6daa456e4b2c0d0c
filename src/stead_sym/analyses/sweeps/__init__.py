"""Many verifications, on one machine or several, against one store of decisions."""
