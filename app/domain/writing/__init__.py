"""Message copy: the port to writers, the check of their texts, and the paid calls of them."""
