"""The kernels in plain Python: to be read by people, and to check the fast ones against."""
