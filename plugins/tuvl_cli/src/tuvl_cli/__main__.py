"""`python -m tuvl_cli` is `tuvl`."""

from __future__ import annotations

from tuvl_cli.main import main

if __name__ == "__main__":
    main()
