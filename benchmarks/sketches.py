"""The builder of the sketches that come with the package.

    python -m benchmarks.sketches --folder ../shared/data @benchmarks/sketches.txt

Each argument is the name of a split that ``classic-rc fetch`` has downloaded, such as
``race:train``, or ``NAME=DATA``: a name, and a path in the folder with its settings, as
:func:`classic_rc.load` reads them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.copies import read_named
from classic_rc.datasets.known_sketches import SHIPPED, sketch_file, write_sketch
from classic_rc.sketches import Sketch


def main(argv: Sequence[str] | None = None) -> None:
    """Write the sketches, and print their sizes."""
    parser = argparse.ArgumentParser(
        description="Build the sketches that come with the package.", fromfile_prefix_chars="@"
    )
    parser.add_argument("data", nargs="+", metavar="NAME[=DATA]")
    parser.add_argument("--folder", type=Path, default=Path(), help="where relative paths start")
    parser.add_argument("--output", type=Path, default=SHIPPED, help="the folder to write to")
    args = parser.parse_args(argv)
    total = 0
    for name, dataset in read_named(args.data, args.folder):
        path = sketch_file(name, args.output)
        write_sketch(Sketch.of(dataset, name), path)
        size = path.stat().st_size
        total += size
        print(f"{name}: {len(dataset):,} questions, {size:,} bytes")
    print(f"{total:,} bytes in all")


if __name__ == "__main__":
    main()
