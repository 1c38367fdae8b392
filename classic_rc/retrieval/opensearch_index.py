"""An index on an OpenSearch cluster: made, filled, looked at and searched, request by request."""

from __future__ import annotations

from typing import Any, NoReturn

from classic_rc.errors import DataError
from classic_rc.retrieval.opensearch_cluster import Cluster, may_pass, reason
from classic_rc.retrieval.opensearch_requests import MARK, Body, index_body, msearch_body
from classic_rc.retrieval.similarity import BM25


class ClusterIndex:
    """One index, by its name.

    Whatever the cluster refuses is a :class:`~classic_rc.errors.DataError` or
    :class:`~classic_rc.errors.UsageError`.

    Parameters
    ----------
    cluster : Cluster
    name : str
    """

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name

    def look(self) -> tuple[Body | None, Body] | None:
        """What this package has noted on the index, if it made it, and the index's settings; None without one."""
        answer = self.cluster.ask(lambda client: client.indices.get(index=self.name, ignore=404))
        if "error" in answer:
            return None
        (index,) = answer.values()
        return index["mappings"].get("_meta", {}).get(MARK), index["settings"]["index"]

    def create(self, similarity: BM25, shards: int, note: Body) -> None:
        """Make the index, with a note that has the build's own id."""
        body = index_body(similarity, shards, note)
        try:
            self.cluster.ask(lambda client: client.indices.create(index=self.name, body=body))
        except DataError as error:
            # Where the answer to a creation was lost, the second attempt meets the index made by the first.
            if "resource_already_exists" not in str(error):
                raise
            self._check_build(note)

    def delete(self) -> None:
        """Remove the index and all that is in it."""
        self.cluster.ask(lambda client: client.indices.delete(index=self.name, ignore=404))

    def add(self, first: int, documents: list[bytes]) -> int:
        """Index a batch of sentences, of which the first one's number is given; gives how many they are."""

        def send(some: list[bytes]) -> list[Body]:
            body, wanted = b"".join(some), "items.*.status,items.*.error"
            answer = self.cluster.ask(lambda client: client.bulk(index=self.name, body=body, filter_path=wanted))
            return [item["create"] for item in answer["items"]]

        answers = self.cluster.ask_for_each(documents, send, lambda answer: may_pass(answer["status"]))
        for number, answer in enumerate(answers, first):
            # A conflict is a sentence that had arrived when an answer was lost.
            if answer["status"] not in (201, 409):
                self.refuse(f"sentence {number} was not taken", found=reason(answer))
        return len(documents)

    def finish(self, count: int, replicas: int, note: Body) -> None:
        """Make what was added searchable and complete: it takes no more writes."""
        self.cluster.ask(lambda client: client.indices.refresh(index=self.name))
        self.check_count(count)
        self._check_build(note)
        settings = {"index": {"refresh_interval": None, "number_of_replicas": replicas, "blocks.write": True}}
        self.cluster.ask(lambda client: client.indices.put_settings(index=self.name, body=settings))
        mapping = {"_meta": {MARK: note}}
        self.cluster.ask(lambda client: client.indices.put_mapping(index=self.name, body=mapping))

    def check_count(self, expected: int) -> None:
        """Refuse an index that does not have this many sentences."""
        answer = self.cluster.ask(lambda client: client.count(index=self.name))
        failed = answer["_shards"]["failed"]
        if failed or answer["count"] != expected:
            found = f"{answer['count']:,}" + (f", and {failed} shards that failed" if failed else "")
            self.refuse("the index does not have all its sentences", found=found, expected=f"{expected:,}")

    def _check_build(self, note: Body) -> None:
        found = self.look()
        if found is None or (found[0] or {}).get("build") != note["build"]:
            self.refuse("something else has made an index of this name meanwhile")

    def search(self, searches: list[Body]) -> list[list[Body]]:
        """The hits of each search, with the statistics of all shards together."""

        def send(some: list[Body]) -> list[Body]:
            body, how = msearch_body(some), "dfs_query_then_fetch"
            answer = self.cluster.ask(lambda client: client.msearch(index=self.name, body=body, search_type=how))
            return list(answer["responses"])

        answers = self.cluster.ask_for_each(searches, send, _is_unfinished)
        for answer in answers:
            if "error" in answer:
                self.refuse("a search failed", found=reason(answer))
            if _is_unfinished(answer):
                shards = answer["_shards"]
                failed = f"{shards['failed']} of {shards['total']} shards failed"
                found = "a timeout on the cluster" if answer["timed_out"] else failed
                self.refuse("a search found a part only, which is not used", found=found)
        return [answer["hits"]["hits"] for answer in answers]

    def text(self, number: int) -> str:
        """The text of a sentence."""
        answer = self.cluster.ask(lambda client: client.get(index=self.name, id=str(number), ignore=404))
        if not answer.get("found"):
            self.refuse(f"sentence {number} is gone")
        return str(answer["_source"]["text"])

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in its order."""
        body = {"field": "text", "text": text}
        answer = self.cluster.ask(lambda client: client.indices.analyze(index=self.name, body=body))
        return [token["token"] for token in answer["tokens"]]

    def refuse(self, problem: str, **facts: str) -> NoReturn:
        """Raise a :class:`~classic_rc.errors.DataError` that names this index."""
        raise DataError(problem, source=f"{self.cluster.name}/{self.name}", **facts)


def _is_unfinished(answer: dict[str, Any]) -> bool:
    """Whether a search's answer is one to ask again for."""
    if "error" in answer:
        return may_pass(answer["status"])
    return bool(answer["timed_out"] or answer["_shards"]["failed"])
