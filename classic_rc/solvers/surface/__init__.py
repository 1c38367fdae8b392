"""The surface-lr solver: logistic regression on surface features."""
