"""Checks that a command can write a new file, before its work begins."""

import os
from pathlib import Path


class FileExists(Exception):
    """The file to write exists."""


class NotWritable(Exception):
    """The folder of the file to write does not exist, or cannot be written to."""


def check(file: Path) -> None:
    """Raise `FileExists` or `NotWritable` unless a file can be added."""
    if file.exists():
        raise FileExists(f"{file} exists. Choose another file, or remove it first.")
    if not (file.parent.is_dir() and os.access(file.parent, os.W_OK)):
        raise NotWritable(f"{file.absolute().parent} is not a folder that can be written to. Choose another file.")
