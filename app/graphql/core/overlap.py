"""The argument of rotations that says how long a former secret or key still works."""

from typing import Annotated

import strawberry

from app.domain.kernel.overlap import MAX_HOURS
from app.graphql.core.directives import Constraint

OverlapHours = Annotated[
    int,
    strawberry.argument(
        description=f"Number of hours for which the former one still works, 0 to {MAX_HOURS}.",
        directives=[Constraint(minimum=0, maximum=MAX_HOURS)],
    ),
]
