"""The REST surface: routes generated from operation documents, the envelope, OpenAPI, inbound callbacks."""
