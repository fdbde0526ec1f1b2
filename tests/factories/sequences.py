"""Reads and changes sequences, steps and enrollments."""

from tests.factories.tables import Rows

SEQUENCES = Rows("sequences")
SEQUENCE_ENROLLMENTS = Rows("sequence_enrollments")
SEQUENCE_STEPS = Rows("sequence_steps")
