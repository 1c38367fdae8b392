"""The feature ranker: a trained log-linear ranker over matching features."""
