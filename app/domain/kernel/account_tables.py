"""Types with which an area declares its tables for the deletion and the export of an account."""

from dataclasses import dataclass

EXPORT_BATCH = 1000
"""Maximum number of rows that one statement of an export reads."""

DELETE = "DELETE FROM {table} WHERE {row} = ANY($1::{type}[])"

BY_ID = ("id",)

PHYSICAL = "ctid"
"""The place of a row: it identifies rows of a table that has no ids and no partitions."""

TYPES = {"id": "bigint", PHYSICAL: "tid"}


@dataclass(frozen=True, slots=True)
class DeletedTable:
    """The rows of one table that the deletion of an account removes, by `account_id` or by `key`, the id of a parent.

    `order` are the columns, unique together, of an index that begins with the account, or with the parent: a batch goes
    on where the one before it ended, and does not step over the rows that it has deleted. A part without it is small.
    What becomes of a batch is said by `statements`, whose `$1` are locked rows, identified by the column `row`, and
    `$2` the present instant.
    """

    name: str
    order: tuple[str, ...] = ()
    parent: str = ""
    key: str = ""
    which: str = "true"
    statements: tuple[str, ...] = (DELETE,)
    row: str = "id"

    def select(self, limit: int, *, first: bool) -> str:
        """Return the statement that locks the next batch: each `row`, then its end. It skips locked rows."""
        return self._select_of_parent(limit, first=first) if self.parent else self._select_own(limit, first=first)

    def exists(self) -> str:
        """Return the statement that tells whether any row is left, locked or not."""
        if self.parent:
            child = f"SELECT FROM {self.name} WHERE {self.key} = p.id AND {self.which}"
            return f"SELECT EXISTS (SELECT FROM {self.parent} p WHERE p.account_id = $1 AND EXISTS ({child} OFFSET 0))"
        return f"SELECT EXISTS (SELECT FROM {self.name} WHERE account_id = $1 AND {self.which})"

    def changes(self) -> list[str]:
        """Return the statements that change a batch."""
        names = {"table": self.name, "row": self.row, "type": TYPES[self.row]}
        return [statement.format(**names) for statement in self.statements]

    def _select_own(self, limit: int, *, first: bool) -> str:
        columns = ", ".join(self.order)
        after = "" if first or not self.order else f" AND ({columns}) > ({_places(len(self.order))})"
        listed, ordering = (f", {columns}", f" ORDER BY {columns}") if self.order else ("", "")
        return (
            f"SELECT {self.row} AS row{listed} FROM {self.name} WHERE account_id = $1 AND {self.which}{after}{ordering}"
            f" LIMIT {limit} FOR UPDATE SKIP LOCKED"
        )

    def _select_of_parent(self, limit: int, *, first: bool) -> str:
        after = "" if first else " AND p.id >= $2"
        of_parent = "" if first else " AND id > CASE WHEN p.id = $2 THEN $3::bigint ELSE 0 END"
        listed, ordering = (", p.id, t.id", " ORDER BY id") if self.order else ("", "")
        columns = f"{self.row} AS row{', id' if self.order else ''}"
        child = f"SELECT {columns} FROM {self.name} WHERE {self.key} = p.id AND {self.which}"
        return (
            f"SELECT t.row{listed} FROM {self.parent} p CROSS JOIN LATERAL"
            f" ({child}{of_parent}{ordering} LIMIT {limit} FOR UPDATE SKIP LOCKED) t"
            f" WHERE p.account_id = $1{after} ORDER BY p.id LIMIT {limit}"
        )


def _places(count: int) -> str:
    return ", ".join(f"${number}" for number in range(2, count + 2))


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """The rows of one table that an export of an account contains, without the columns that are withheld.

    They are an account's by their column `owner`, or by `key`, the id of their parent: then an index begins with the
    key, and the id follows or the rows of a parent are few. `order` are columns that never change, unique together, of
    an index that begins with the account. A table with neither is small: it is read by the index of the account, and
    sorted.
    """

    name: str
    withheld: frozenset[str] = frozenset()
    owner: str = "account_id"
    order: tuple[str, ...] = ()
    parent: str = ""
    key: str = ""

    def select(self, columns: str = "*", *, first: bool) -> str:
        """Return the query of a batch of the account `$1` up to the id `$2`: the first, or the next after values."""
        ordered = ", ".join(self.order or ("id",))
        after = "" if first else f" AND ({ordered}) > ({', '.join(f'${n + 3}' for n in range(len(self.order) or 1))})"
        rows = f"SELECT {columns} FROM {self.name} WHERE {self.owner} = $1 AND id <= $2{after}"
        rows = rows if self.order else f"SELECT * FROM ({rows} OFFSET 0) AS own"
        return f"{rows} ORDER BY {ordered} LIMIT {EXPORT_BATCH}"

    def select_of_parents(self, columns: str = "*") -> str:
        """Return the query of a batch of the parents `$1` up to the id `$2`, after the row `$4` of the parent `$3`."""
        return (
            "SELECT own.* FROM unnest($1::bigint[]) AS parent(id) CROSS JOIN LATERAL ("
            f"SELECT {columns} FROM {self.name} WHERE {self.key} = parent.id AND id <= $2"
            f" AND id > CASE WHEN parent.id = $3 THEN $4::bigint ELSE 0 END ORDER BY id LIMIT {EXPORT_BATCH}) AS own"
            f" WHERE parent.id >= $3 ORDER BY parent.id, own.id LIMIT {EXPORT_BATCH}"
        )
