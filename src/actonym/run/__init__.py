"""Anonymize a file, a folder, a stream, and keep the record of what was done."""

from actonym.run.file import anonymize_file
from actonym.run.folder import SUFFIXES, Failure, anonymize, anonymize_folder
from actonym.run.record import Record

__all__ = ["SUFFIXES", "Failure", "Record", "anonymize", "anonymize_file", "anonymize_folder"]
