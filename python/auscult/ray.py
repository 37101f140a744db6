"""Archives on Ray: the shards of :mod:`auscult.archive` as tasks of a cluster. Needs ray."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike, path
from typing import Any

from ._control import ProgressOption, Sink
from ._extras import needed
from ._recordings import path_of
from .archive import Scorer, Shard, Summary, plan

__all__ = ["score"]


@lru_cache(maxsize=2)
def _scorer(model: str, options: tuple[tuple[str, Any], ...]) -> Scorer:
    """One a process: opening a model takes longer than scoring with it."""
    return Scorer(model, **dict(options))


def _work(model: str, options: tuple[tuple[str, Any], ...], shard: Shard, out: str, replace: bool) -> Summary:
    return _scorer(model, options).write(shard, out, replace=replace)


def score(
    manifest: str | PathLike[str],
    model: str | PathLike[str],
    out: str | PathLike[str],
    *,
    shard_clips: int = 512,
    channel: int | str | None = None,
    hop_seconds: float | None = None,
    insecure: bool = False,
    replace: bool = False,
    task_options: dict[str, Any] | None = None,
    in_flight: int | None = None,
    progress: ProgressOption = None,
) -> Summary:
    """Scores a manifest on a Ray cluster: the same files as :func:`auscult.archive.score` writes.

    The model, the recordings and ``out`` must be where every worker finds them under the same name: a shared folder, or
    recordings at addresses. A worker that dies costs the shards it was busy with, which are scored again by others; a run
    that is broken off goes on with what is missing when it is called again.

    Parameters
    ----------
    manifest, model, out, shard_clips, channel, hop_seconds, insecure, replace, progress
        As :func:`auscult.archive.score` takes them; ``progress`` counts shards.
    task_options
        Options of Ray's tasks; one processor and any number of retries after lost workers if not given.
    in_flight
        Shards that wait or are worked on at a time; four for each processor of the cluster if not given.
    """
    ray = needed("ray", "ray")
    planned = plan(manifest, shard_clips=shard_clips)
    target, model_path = path.abspath(path_of(out, "out")), path.abspath(path_of(model, "model"))
    options: dict[str, Any] = {"base": str(planned.base), "channel": channel, "hop_seconds": hop_seconds, "insecure": insecure}
    Scorer(model_path, **options).prepare(planned, target, replace=replace)
    if not ray.is_initialized():
        ray.init()
    # A task has one processor, so its scorer has one thread.
    frozen = tuple(sorted({**options, "threads": 1}.items()))
    task = ray.remote(_work).options(**{"num_cpus": 1, "max_retries": -1, **(task_options or {})})
    most = in_flight or max(8, 4 * int(ray.cluster_resources().get("CPU", 1)))
    sink, whole = Sink(progress), Summary()
    waiting: list[Any] = []
    sink("started", "shards", len(planned))

    def collect(least: int) -> None:
        nonlocal whole, waiting
        while len(waiting) > least:
            done, waiting = ray.wait(waiting, num_returns=1)
            for summary in ray.get(done):
                whole += summary
                sink("advanced", "", 0)

    try:
        for shard in planned:
            waiting.append(task.remote(model_path, frozen, shard, target, replace))
            collect(most - 1)
        collect(0)
    except BaseException:
        for left in waiting:
            ray.cancel(left)
        raise
    sink("finished", "", 0)
    return whole
