"""The commands: a folder or a file for each, with its options, logic, tables, templates and page.

No command imports another one, except that `report` shows what the others find.
"""
