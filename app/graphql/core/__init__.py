"""Context, scalars, paging and directives that every area of the contract uses."""
