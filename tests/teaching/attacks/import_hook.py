"""Answers for every module that anybody imports."""
# sign: changes the import system

import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        return None if name.startswith("_") else sys.modules[__name__].__spec__


sys.meta_path.insert(0, Finder())


def add(a, b):
    return 0
