"""Search engines of other projects, behind the interface of
:class:`~classic_rc.retrieval.base.Engine`.
"""
