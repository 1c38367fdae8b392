"""``run``: score datasets and print tables of results; suites, copies and curves are here too."""
