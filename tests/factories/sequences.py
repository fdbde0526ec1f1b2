"""Sequences, their steps and enrollments, as tests read and change them."""

from tests.factories.tables import Rows

SEQUENCES = Rows("sequences")
SEQUENCE_ENROLLMENTS = Rows("sequence_enrollments")
SEQUENCE_STEPS = Rows("sequence_steps")
