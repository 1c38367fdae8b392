"""Text and JSON in and out: opening, unpacking, decoding, strict JSON, hashing and atomic writing.

The rest of the package uses these modules, and opens compressed files and replaces files only through them:

* ``files``: open regular files and standard input only, unpack them, with one limit on what is read into memory.
* ``text``: decode bytes; lines and tables; write a file atomically.
* ``hashing``: the sha256 of bytes, texts, files and folders.
* ``json``: strict JSON, and JSON values that know their place in the file.
* ``members``: the members of tar and zip archives.
* ``archives``: the files behind a path, which is a file, a folder or an archive.
* ``columns``: the rows of Parquet and Arrow files.
* ``download``: a download that continues after an interruption, and a lock for several processes.
* ``printable`` and ``progress``: safe printing of foreign text, and progress on stderr.
"""
