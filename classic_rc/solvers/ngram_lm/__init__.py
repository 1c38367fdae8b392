"""The ngram-lm solver: n-gram language models."""
