"""Text and JSON in and out. The rest of the package opens compressed files and replaces files only
through these:

* ``files``: open and unpack regular files and standard input; limits; hashes; a lock for several
  processes.
* ``text``: decode bytes; lines and tables; safe printing of foreign text; write a file atomically.
* ``json``: strict JSON, and JSON values that know their place in the file.
* ``members``: the members of tar and zip archives.
* ``archives``: the files behind a path, which is a file, a folder or an archive.
* ``columns``: the rows of Parquet and Arrow files.
* ``download``: a download that continues after an interruption.
* ``progress``: progress on stderr; ``reporters``: that of other processes.
"""
