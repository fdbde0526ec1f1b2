"""Pages where people sign in and allow applications, and the endpoints that applications get their tokens from."""
