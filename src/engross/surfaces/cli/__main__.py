"""`python -m engross.surfaces.cli`."""

from .entry import main

main()
