"""Named GraphQL documents, compiled for the surfaces. Imports no other package of `app`."""
