"""Notices to users: in the browser and by mail, as each of them chooses."""
