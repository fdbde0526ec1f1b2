"""What the service tells its operators: logs, figures, and the id that ties them to a request."""
