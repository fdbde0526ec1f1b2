"""Erasing contacts with everything that was said and told of them."""
