"""The feature-ranker solver: a trained log-linear ranker over matching features."""
