"""What people who look at an account are shown while they look."""
