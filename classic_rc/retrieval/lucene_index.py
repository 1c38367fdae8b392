"""Lucene's indexes: written in the order of the sentences, and read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError
from classic_rc.retrieval.jvm import java_class, java_text

FIELD = "contents"
"""Where Anserini has the terms."""

_RAW = "raw"
"""Where Anserini keeps a document as it came, if it was told to."""

_BUFFER_MB = 64.0


def english_analyzer() -> Any:
    """Lucene's EnglishAnalyzer."""
    return java_class("org.apache.lucene.analysis.en.EnglishAnalyzer")()


def open_directory(folder: Path | None) -> Any:
    """Lucene's directory of a folder, which is made where there is none, or one in memory."""
    if folder is None:
        return java_class("org.apache.lucene.store.ByteBuffersDirectory")()
    path = java_class("java.io.File")(str(folder)).toPath()
    return java_class("org.apache.lucene.store.FSDirectory").open(path)


def write_index(directory: Any, sentences: Iterable[str]) -> None:
    """Write an index in which a sentence's number is its document's; on any error nothing is kept."""
    config = java_class("org.apache.lucene.index.IndexWriterConfig")(english_analyzer())
    config.setOpenMode(java_class("org.apache.lucene.index.IndexWriterConfig$OpenMode").CREATE)
    config.setRAMBufferSizeMB(_BUFFER_MB)
    # Lucene's usual policy merges segments that are not neighbours, which changes the order of documents.
    config.setMergePolicy(java_class("org.apache.lucene.index.LogDocMergePolicy")())
    writer = java_class("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        stored = java_class("org.apache.lucene.document.Field$Store").YES
        field = java_class("org.apache.lucene.document.TextField")(FIELD, "", stored)
        document = java_class("org.apache.lucene.document.Document")()
        document.add(field)
        for sentence in sentences:
            field.setStringValue(java_text(sentence))
            writer.addDocument(document)
        writer.forceMerge(1)
    except BaseException:
        writer.rollback()
        raise
    writer.close()


def open_reader(directory: Any, field: str, source: str | None) -> Any:
    """Open an index, which must have the field; neither writes nor locks.

    Raises
    ------
    DataError
        The directory holds no index, or no document has the field.
    """
    reader = java_class("org.apache.lucene.index.DirectoryReader")
    if not reader.indexExists(directory):
        raise DataError("no index of Lucene in this folder", source=source)
    opened = reader.open(directory)
    names = sorted(java_class("org.apache.lucene.index.FieldInfos").getIndexedFields(opened).toArray())
    if field not in names and opened.maxDoc():
        opened.close()
        raise DataError(
            "no such field is indexed", source=source, field=field, expected=" or ".join(map(repr, names))
        )
    return opened


def stored_text(reader: Any, number: int, field: str) -> str | None:
    """The text of a document: what `field` keeps, else what ``raw`` does; None where neither is kept."""
    # Lucene 9.5 gave stored fields an object of their own, Lucene 10 took them from the reader.
    document = (reader.storedFields() if hasattr(reader, "storedFields") else reader).document(number)
    return next((text for text in (document.get(name) for name in (field, _RAW)) if text is not None), None)
