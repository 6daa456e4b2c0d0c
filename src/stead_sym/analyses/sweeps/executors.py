"""Executors of the runs of a sweep: local processes, or a Ray cluster.

One decision: an executor is any object with the method `submit` of `concurrent.futures`. A worker of a sweep
only waits for the process of its run, so that threads are enough on this machine.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from stead_sym.errors import InputError
from stead_sym.support.extras import install

_T = TypeVar("_T")
_CLUSTER_SECONDS = 20.0
"""The timeout of a connection to a cluster, in seconds."""


def local(workers: int | None = None) -> Executor:
    """Return an executor of local processes, ``workers`` at a time; by default one per processor."""
    return ThreadPoolExecutor(workers or os.cpu_count() or 1, thread_name_prefix="stead-sym sweep")


class RayExecutor(Executor):
    """The workers of a Ray cluster, one run per processor at a time.

    ``address`` is that of a cluster; ``"local"`` starts one with ``workers`` processors on this machine,
    which ends with the executor. Ray itself retries nothing: the death of a worker is reported as an
    exception of its future. Raises `InputError` if Ray is not installed or no cluster is found.
    """

    def __init__(self, address: str = "local", workers: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise InputError(
                f"running on a cluster needs the library ray, which is not installed; {install('ray')}"
            ) from None
        if refused := _refused(address):  # Ray would retry for many minutes
            raise InputError(f"{address}: no Ray cluster ({refused}); start one, or write `local`")
        self._ray = ray
        self._own = not ray.is_initialized()
        if self._own:
            settings: dict[str, Any] = {"num_cpus": workers} if address == "local" else {}
            try:
                ray.init(address=address, log_to_driver=False, include_dashboard=None, **settings)
            except (ConnectionError, ValueError, RuntimeError) as error:
                why = str(error).strip().splitlines()[0]
                raise InputError(f"{address}: no Ray cluster ({why}); start one, or write `local`") from None
        self._remote = ray.remote(num_cpus=1, max_retries=0)(_call)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Submit a call to the cluster and return its future."""
        future: Future[_T] = self._remote.remote(fn, args, kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, and end it if it was started here."""
        if self._own:
            self._ray.shutdown()


def _refused(address: str) -> str | None:
    """Return why no connection to HOST:PORT can be made.

    The result is None if it can, or if the address has another form.
    """
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not host or not port.isdecimal():
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CLUSTER_SECONDS).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None


def _call(fn: Callable[..., _T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _T:
    return fn(*args, **kwargs)
