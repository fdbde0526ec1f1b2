"""Message templates with placeholders."""
