"""Files of students are no tests. Attacks above all must not be imported here, where doctests are looked for."""

collect_ignore_glob = ["attacks/*", "solutions/*", "wrong/*"]
