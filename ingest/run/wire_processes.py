"""LiteLLM in processes of its own, so that what it computes for one call does not hold up the others.

LiteLLM takes some milliseconds of Python for a call, and one process computes one call at a time. Each worker process
listens on a socket in a private folder and serves one connection per call in flight. It ends with its standard input,
that is, with the process that started it, however that one ends.
"""

from __future__ import annotations

import contextlib
import gc
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from ingest.errors import IngestError
from ingest.run.call import CallRequest
from ingest.run.exchange import Exchange, Outgoing, Sent

START_S = 180.0


class WireProcessDied(IngestError):
    """A worker process is not there any more, or never came up."""


class ProcessWire:
    """A wire over worker processes. `send` may be called from several threads."""

    def __init__(self, processes: int) -> None:
        """Starts the workers and waits until the first can be asked. Raises WireProcessDied."""
        self._folder = tempfile.TemporaryDirectory(prefix="reprise-")
        self._authkey = secrets.token_bytes(32)
        self._workers = [self._start(Path(self._folder.name) / f"{number}.sock") for number in range(processes)]
        self._turn = count()
        self._lock = threading.Lock()
        self._free: list[list[Connection]] = [[] for _ in self._workers]
        try:
            connection, self.version = self._connect(0)
        except BaseException:
            self.close()
            raise
        self._free[0].append(connection)

    @property
    def process_ids(self) -> list[int]:
        """The workers' process ids."""
        return [process.pid for process, _ in self._workers]

    def close(self) -> None:
        """Ends the workers."""
        for process, _ in self._workers:
            assert process.stdin is not None
            process.stdin.close()
        for process, _ in self._workers:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._folder.cleanup()

    def send(self, request: CallRequest, on_send: Callable[[Sent], None]) -> Exchange:
        """See `ingest.run.caller.Wire`. Raises WireProcessDied when the worker dies before the request left."""
        number = next(self._turn) % len(self._workers)
        with self._lock:
            connection = self._free[number].pop() if self._free[number] else None
        if connection is None:
            connection, _ = self._connect(number)
        sent: Sent | None = None
        started = time.monotonic()
        try:
            connection.send(Outgoing.of(request))
            came = connection.recv()
            if isinstance(came, Sent):
                sent = came
                try:
                    on_send(sent)
                except BaseException:
                    # The worker waits for leave to send; without it, nothing leaves.
                    connection.close()
                    raise
                started = time.monotonic()
                connection.send(True)
                came = connection.recv()
        except (EOFError, OSError) as error:
            if connection.closed:
                raise
            connection.close()
            if sent is None:
                raise WireProcessDied("The process that runs LiteLLM ended. Start the command again.") from error
            return Exchange(sent, latency_s=time.monotonic() - started, error="the process that runs LiteLLM ended")
        with self._lock:
            self._free[number].append(connection)
        if isinstance(came, BaseException):
            raise came
        return came

    def _start(self, address: Path) -> tuple[subprocess.Popen[bytes], Path]:
        # In a session of their own, workers do not hear the Ctrl-C that asks this process to finish what is in flight.
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(address)], stdin=subprocess.PIPE, start_new_session=True
        )
        assert process.stdin is not None
        process.stdin.write(self._authkey)
        process.stdin.flush()
        return process, address

    def _connect(self, number: int) -> tuple[Connection, str]:
        """A connection to a worker and the version of its LiteLLM; waits until the worker has started."""
        process, address = self._workers[number]
        deadline = time.monotonic() + START_S
        while True:
            try:
                connection = Client(str(address), "AF_UNIX", authkey=self._authkey)
            except (FileNotFoundError, ConnectionError, EOFError) as error:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise WireProcessDied(
                        "The process that runs LiteLLM did not start; its error stands above. Start the command again."
                    ) from error
                time.sleep(0.05)
            else:
                return connection, connection.recv()


def _serve(address: str) -> None:
    # Unbuffered, since a thread goes on reading there until the end.
    authkey = os.read(0, 32)
    # Imported here: the parent needs this module without LiteLLM.
    from ingest.run.wire import LiteLLMWire

    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    wire = LiteLLMWire()
    # What LiteLLM leaves in memory when it is imported stays; the garbage collector need not go through it for ever.
    gc.collect()
    gc.freeze()
    with Listener(address, "AF_UNIX", backlog=512, authkey=authkey) as listener:
        while True:
            try:
                connection = listener.accept()
                connection.send(wire.version)
            except (EOFError, OSError, AuthenticationError):
                # Whoever knocked is gone, or is nobody we know; that concerns no other connection.
                continue
            threading.Thread(target=_answer, args=(wire, connection), daemon=True).start()


def _end_with_the_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def _answer(wire: Any, connection: Connection) -> None:
    """Makes the calls that come over one connection, one after the other."""

    def ask_leave(sent: Sent) -> None:
        connection.send(sent)
        connection.recv()

    with contextlib.suppress(EOFError, OSError):
        while True:
            outgoing = connection.recv()
            try:
                came = wire.exchange(outgoing, ask_leave)
            except (EOFError, OSError):
                raise
            except Exception as error:
                came = error
            connection.send(came)


if __name__ == "__main__":
    _serve(sys.argv[1])
