"""Relations between records: which rows of a class belong to a record of another one."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import SQLColumnExpression

from app.domain.kernel.orders import Order

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Relation(Generic[T]):
    """Rows of a class that belong to an owner of the same account, whose id is in the column `owner`.

    With an order, which is of columns of the class, an owner has a list of them; otherwise one at most.
    """

    kind: type[T]
    owner: SQLColumnExpression[int]
    order: Order | None = None


AnyRelation = Relation[Any]
