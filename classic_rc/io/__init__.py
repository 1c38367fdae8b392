"""Text and JSON in and out: opening, decompressing, decoding, strict JSON, hashing and atomic writing.

Every other part of the package uses these and opens no compressed file, and replaces no file, by itself:

* ``text``: the bytes and the text of a file, and writing a file as a whole or not at all.
* ``compression``: gzip, bzip2, xz and zip, with the limit on what is unpacked.
* ``hashing``: the sha256 of bytes, texts, files and folders.
* ``json``: strict JSON, and its values with the place each came from.
* ``archives``: what a path holds, be it a file, a folder or a tar archive.
* ``printable`` and ``progress``: what people see of texts of unknown origin and of long work.
"""
