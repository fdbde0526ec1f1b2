"""The declarative base of all tables."""

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import BigInteger, DateTime, Identity, MetaData, Text, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

Key = Annotated[int, mapped_column(BigInteger, Identity(), primary_key=True)]
Created = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=func.now())]


class Base(DeclarativeBase):
    """Every model's parent: 64-bit integers, `text`, UTC timestamps, constraint names by one rule."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {  # noqa: RUF012
        int: BigInteger,
        str: Text,
        datetime: DateTime(timezone=True),
        list[str]: ARRAY(Text),
        dict[str, Any]: JSONB,
    }
