"""What the service is about: one folder an area, and a kernel they share."""
