"""`python -m app` is `messaging`."""

from app.cli import main

main()
