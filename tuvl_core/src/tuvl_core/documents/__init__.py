"""YAML files as documents: plain data, and where in the file everything stands."""

from __future__ import annotations

from tuvl_core.documents.codes import CODES
from tuvl_core.documents.comments import Comment, comments_of
from tuvl_core.documents.document import Document
from tuvl_core.documents.dotenv import load_dotenv, parse_dotenv, read_dotenv
from tuvl_core.documents.files import find_files, is_project_file
from tuvl_core.documents.reader import read_documents, read_text
from tuvl_core.documents.scalars import ScalarError, plain_value
from tuvl_core.documents.writer import to_yaml

__all__ = [
    "CODES",
    "Comment",
    "Document",
    "ScalarError",
    "comments_of",
    "find_files",
    "is_project_file",
    "load_dotenv",
    "parse_dotenv",
    "plain_value",
    "read_documents",
    "read_dotenv",
    "read_text",
    "to_yaml",
]
