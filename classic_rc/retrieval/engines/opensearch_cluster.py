"""The connection to an OpenSearch cluster, with retries and clear errors, and the requests of
the engine.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from classic_rc.errors import ClassicRCError, DataError, MissingPackageError, UsageError
from classic_rc.io.text import is_encodable
from classic_rc.retrieval.similarity import BM25

PREFIX = "CLASSIC_RC_OPENSEARCH_"
"""The prefix of the environment variables: ``_URL``, ``_USER``, ``_PASSWORD``, ``_CA_CERTS``,
``_CLIENT_CERT`` and ``_CLIENT_KEY``."""

TEMPORARY = (429, 500, 502, 503, 504)
"""The statuses of a cluster that is too busy, or of a server with a fault."""

_LONGEST_REASON = 300
_EXAMPLE_URL = "https://localhost:9200"
_NOT_OPENSEARCH = "the server is not OpenSearch"


@dataclass(frozen=True, slots=True, repr=False)
class Access:
    """The address of a cluster and the credentials. It has no ``repr``, so no secret appears in
    a message.
    """

    urls: tuple[str, ...]  # one or several nodes: "https://node-1:9200"
    user: str | None = None
    password: str | None = None
    ca_certs: str | None = (
        None  # file of certificate authorities; without it, those that Python trusts
    )
    client_cert: str | None = None  # file of a certificate to show to the cluster
    client_key: str | None = None  # file of that certificate's key

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read the environment variables that begin with :data:`PREFIX`."""
        values = {f.name: environment.get(_variable(f.name)) or None for f in fields(cls)}
        addresses = (values.pop("urls") or "").split(",")
        urls = tuple(filter(None, map(str.strip, addresses)))
        if not urls:
            problem = (
                f"the address of the OpenSearch cluster is missing: set {PREFIX}URL, for example "
                f"to {_EXAMPLE_URL}"
            )
            raise UsageError(problem, field=f"{PREFIX}URL", expected=_EXAMPLE_URL)
        for place, url in enumerate(urls, 1):
            if fault := _find_url_fault(url):
                which = f", address {place} of {len(urls)}," if len(urls) > 1 else ""
                raise UsageError(
                    f"{PREFIX}URL{which} {fault}", field=f"{PREFIX}URL", expected=_EXAMPLE_URL
                )
        for setting, needed_setting in (
            ("user", "password"),
            ("password", "user"),
            ("client_key", "client_cert"),
        ):
            if values[setting] and not values[needed_setting]:
                missing = _variable(needed_setting)
                raise UsageError(
                    f"{_variable(setting)} is set, but {missing} is not: set both", field=missing
                )
        for name in ("ca_certs", "client_cert", "client_key"):
            if (file := values[name]) and not Path(file).is_file():
                raise UsageError(
                    f"{_variable(name)} is not a file: {file}",
                    field=_variable(name),
                    found=file,
                    expected="a file",
                )
        return cls(urls, **values)


def _variable(name: str) -> str:
    return PREFIX + ("URL" if name == "urls" else name.upper())


def _find_url_fault(url: str) -> str | None:
    """Return what is wrong with an address, or None; never quote it, as it may contain a
    password.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return f"is not an address like {_EXAMPLE_URL}"
    if parts.username is not None or parts.password is not None:
        return f"contains a user or a password: set {PREFIX}USER and {PREFIX}PASSWORD instead"
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        return f"is not an address like {_EXAMPLE_URL}"
    return None


class Cluster:
    """A connection to a cluster; the constructor checks that the cluster answers.

    opensearch-py repeats a request up to `retries` times if the cluster refused it for the moment
    (status 429 or 5xx) or the connection was lost, but not the first request, so that a wrong
    address is reported at once. `name` has the addresses, as messages show them; `release` is
    ``"opensearch-3.8.0"``, or None if the user may not see it.
    """

    def __init__(self, access: Access, *, timeout: float, retries: int) -> None:
        try:
            import opensearchpy
        except ImportError:
            raise MissingPackageError(
                "opensearch-py", needed_for="engine opensearch", extra="opensearch"
            ) from None
        # The client logs each failure with a traceback, which Python prints if logging is not set
        # up.
        log = logging.getLogger("opensearch")
        if not log.handlers:
            log.addHandler(logging.NullHandler())
        self.name = ",".join(access.urls)
        self._errors = opensearchpy.exceptions
        self._has_user, self._timeout = access.user is not None, timeout
        self.client = opensearchpy.OpenSearch(
            [url.rstrip("/") for url in access.urls],
            http_auth=(access.user, access.password) if access.user else None,
            verify_certs=True,
            ca_certs=access.ca_certs,
            client_cert=access.client_cert,
            client_key=access.client_key,
            timeout=timeout,
            max_retries=0,
            retry_on_timeout=True,
            retry_on_status=TEMPORARY,
        )
        self.release = self._release()
        self.client.transport.max_retries = retries

    def _release(self) -> str | None:
        with self.errors():
            answer = self.client.info(ignore=403)
        if "error" in answer:
            return None
        if "version" not in answer:
            raise DataError(_NOT_OPENSEARCH, source=self.name)
        version = answer["version"]
        return f"{version.get('distribution', 'elasticsearch')}-{version['number']}"

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the errors of the client into one-line errors."""
        try:
            yield
        except self._errors.OpenSearchException as error:
            raise self._translate_error(error) from None

    def _translate_error(self, error: Any) -> ClassicRCError:
        errors, where = self._errors, self.name
        if isinstance(error, errors.SSLError):
            return UsageError(
                f"{where}: the connection is not trusted: {_shorten(error.error)}; "
                f"for a private certificate authority, set {PREFIX}CA_CERTS to its file",
                field=f"{PREFIX}CA_CERTS",
            )
        if isinstance(error, errors.ConnectionTimeout):
            return DataError(f"no answer within {self._timeout:g} seconds", source=where)
        if isinstance(error, errors.ConnectionError):
            hint = f"Is OpenSearch running there? The address comes from {PREFIX}URL"
            return DataError(
                "no connection", source=where, found=_describe_connection_error(error), hint=hint
            )
        if isinstance(error, errors.AuthenticationException):
            refused, action = "requests without a user", "set"
            if self._has_user:
                refused, action = "this user and password", "check"
            problem = (
                f"{where}: the cluster refuses {refused}: {action} {PREFIX}USER and "
                f"{PREFIX}PASSWORD"
            )
            return UsageError(problem, field=f"{PREFIX}USER", found=refused)
        answer = error.info if isinstance(error, errors.TransportError) else None
        if not isinstance(answer, dict) or "error" not in answer:
            return DataError(
                _NOT_OPENSEARCH, source=where, found=f"status {getattr(error, 'status_code', 200)}"
            )
        if isinstance(error, errors.AuthorizationException):
            problem = f"{where}: the user lacks a permission: {error_reason(answer)}"
            return UsageError(problem, field=f"{PREFIX}USER", found=error_reason(answer))
        return DataError(f"status {error.status_code}", source=where, found=error_reason(answer))


def error_reason(answer: Mapping[str, Any]) -> str:
    """Return the reason of an error answer, in the cluster's own words.

    Examples
    --------
    >>> error_reason(
    ...     {
    ...         "error": {
    ...             "type": "search_phase",
    ...             "reason": "all shards failed",
    ...             "root_cause": [{"type": "too_many_clauses", "reason": "more than 1024"}],
    ...         }
    ...     }
    ... )
    'too_many_clauses: more than 1024'
    """
    error = answer.get("error", answer)
    if isinstance(error, dict):
        error = next(iter(error.get("root_cause") or [error]))
        error = ": ".join(str(error[key]) for key in ("type", "reason") if error.get(key))
    return _shorten(error or "no reason given")


def _shorten(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 1]}…"


def _describe_connection_error(error: Any) -> str:
    """Return the cause in a few words: urllib3 puts a description of the connection before it."""
    reason = re.split(r"[>)]: ", str(error.error))[-1]
    return _shorten(reason or type(error.info).__name__)


INDEX_MARK = "classic_rc"
"""The key in a mapping's ``_meta`` for this package's note on an index that it made."""

_NAME = "sentences"

_encode = json.JSONEncoder(ensure_ascii=False).encode
_escape = json.JSONEncoder().encode

Body = dict[str, Any]


def index_body(similarity: BM25, shards: int, note: Body) -> Body:
    """Return the settings and the mapping of a new index.

    BM25's constants and the analyzer are set explicitly, so defaults of the cluster or of a
    template do not apply. Terms are indexed with their counts and without positions, which no query
    here needs.
    """
    bm25 = {"type": "BM25", "k1": similarity.k1, "b": similarity.b}
    english = {"type": "english", "stopwords": "_english_"}
    text = {"type": "text", "analyzer": _NAME, "similarity": _NAME, "index_options": "freqs"}
    return {
        "settings": {
            "index": {
                "number_of_shards": shards,
                "number_of_replicas": 0,  # replicas are made once, when the index is complete
                "refresh_interval": "-1",
                "codec": "best_compression",
                "similarity": {_NAME: bm25},
                "analysis": {"analyzer": {_NAME: english}},
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {INDEX_MARK: note},
            "properties": {"number": {"type": "long", "index": False}, "text": text},
        },
    }


def similarity_of(settings: Body) -> BM25:
    """Return the similarity of an index that :func:`index_body` made, from its settings on the
    cluster.
    """
    constants = settings["similarity"][_NAME]
    return BM25(k1=float(constants["k1"]), b=float(constants["b"]))


def create_action(numbered: tuple[int, str]) -> tuple[str, str]:
    """Return the two lines that create the document of a sentence, for opensearch-py's bulk
    helpers.

    A document's id is the sentence's number, and a document is created, never replaced. So a
    sentence that is sent twice because an answer was lost changes nothing, not even the statistics
    of terms.
    """
    number, sentence = numbered
    # A template is six times as fast as encoding the two objects.
    return (
        f'{{"create":{{"_id":"{number}"}}}}',
        f'{{"number":{number},"text":{_to_json(sentence)}}}',
    )


def _to_json(value: Any) -> str:
    text = _encode(value)
    # An unpaired surrogate: JSON can escape it, UTF-8 cannot encode it.
    return text if text.isascii() or is_encodable(text) else _escape(value)


def query_search(query: str, k: int, *, with_text: bool = False) -> Body:
    """Return the search for the `k` best sentences of a query."""
    return _search(_match_query(query), [], k, with_text)


def constrained_search(question: str, option: str) -> Body:
    """Return the search for the best sentence for ``question + " " + option`` that has a term of
    each.

    The constraints are filters and do not change the score: a word of both question and option
    counts twice, as in the plain query.
    """
    filters = [_match_query(question), _match_query(option)]
    return _search(_match_query(f"{question} {option}"), filters, 1)


def term_search(term: str, count: int, number: int) -> Body:
    """Return the search for what a term with `count` occurrences in a query adds to one
    sentence's score.
    """
    scored = {"term": {"text": {"value": term, "boost": count}}}
    search = _search(scored, [{"ids": {"values": [str(number)]}}], 1)
    return search | {"explain": True, "stored_fields": []}


def texts_search(numbers: range) -> Body:
    """Return the search for the texts of sentences with consecutive numbers, in their order."""
    return {
        "query": {"range": {"number": {"gte": numbers.start, "lt": numbers.stop}}},
        "sort": [{"number": "asc"}],
        "size": len(numbers),
        "track_total_hits": False,
        "_source": ["text"],
    }


def msearch_body(searches: Iterable[Body]) -> str:
    """Join many searches into one request; the request's parameters set where and how to search."""
    return "".join(f"{{}}\n{_to_json(body)}\n" for body in searches)


def _match_query(text: str) -> Body:
    return {"match": {"text": {"query": text}}}


def _search(scored: Body, filters: list[Body], k: int, with_text: bool = False) -> Body:
    """A search whose hits have only their sort values: score and number."""
    content: Body = {"_source": ["text"]}
    if not with_text:
        content = {"_source": False, "stored_fields": "_none_"}
    return {
        "query": {"bool": {"must": [scored], "filter": filters}},
        "sort": ["_score", {"number": "asc"}],
        "size": k,
        "track_total_hits": False,
        **content,
    }
