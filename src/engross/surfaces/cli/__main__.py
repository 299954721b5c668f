"""`python -m engross.surfaces.cli`."""

from .app import main

main()
