"""The span solvers: a log-linear ranker, and the sliding window of Rajpurkar et al. 2016."""
