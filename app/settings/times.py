"""Durations that settings may have, in seconds."""

from typing import Annotated

from pydantic import Field

MOST_DAYS = 36_500
Wait = Annotated[float, Field(ge=0, le=MOST_DAYS * 86_400)]
Time = Annotated[float, Field(gt=0, le=MOST_DAYS * 86_400)]
