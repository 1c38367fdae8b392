"""Text and JSON in and out: opening, decompressing, decoding, strict JSON, hashing and atomic writing."""
