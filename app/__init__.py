"""An SMS messaging service that runs from one command."""
