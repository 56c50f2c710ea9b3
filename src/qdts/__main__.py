"""`python -m qdts` is the command `qdts`."""

import sys

from qdts.cli import main

sys.exit(main())
