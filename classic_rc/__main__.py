"""``python -m classic_rc``: the command line."""

import sys

from classic_rc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
