"""The lexical solver: the strong lexical matcher of Smith et al. 2015."""
