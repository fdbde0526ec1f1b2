"""The REST surface: routes made from operation documents, the envelope, OpenAPI, inbound callbacks."""
