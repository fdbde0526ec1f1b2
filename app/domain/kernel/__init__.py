"""What every area stands on: units, actors, events, errors, time, phone numbers."""
