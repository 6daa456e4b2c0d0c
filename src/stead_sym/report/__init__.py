"""Reports: a verification as JSON and on a terminal, and what a long run says of itself meanwhile."""
