"""Where translations come from: a model, Google Cloud Translation, or a file of ready ones."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ingest.archive.csv_rows import read_csv
from ingest.archive.lines import LineReader, UnreadableFile, Unusable
from ingest.run.agents import Agent
from ingest.run.call import Answer, Caller, CallProblem
from ingest.translate.answers import read_text, request_for
from ingest.translate.motions import Cell, TranslationError
from ingest.translate.passages import Passage

if TYPE_CHECKING:
    import httpx

GOOGLE_ENDPOINT = "https://translation.googleapis.com/language/translate/v2"
GOOGLE_KEY = "GOOGLE_TRANSLATE_API_KEY"

_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_ATTEMPTS = 5
_LONGEST_WAIT_S = 60.0


# What is to be translated: the cells of motions, or the passages of transcripts.
Wanted = TypeVar("Wanted", Cell, Passage)


class Translator(Protocol[Wanted]):
    """Gives each cell or passage its text, or says why it has none."""

    name: str

    def translate(self, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, str | TranslationError]]:
        """Each one with its translation or the reason why it has none, as they come."""
        ...


class ModelTranslator(Generic[Wanted]):
    """A declared agent, asked through the caller, so that its calls are in the ledger.

    `task` names the prompt: translate for motions, translate_speech for the passages of transcripts.
    """

    def __init__(self, agent: Agent, caller: Caller, source_language: str, task: str = "translate") -> None:
        self.name = agent.name
        self._task = task
        self._agent = agent
        self._caller = caller
        self._source_language = source_language

    def translate(self, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, str | TranslationError]]:
        by_subject = {tuple(one.subject.items()): one for one in wanted}
        requests = [request_for(self._task, self._agent, one, self._source_language) for one in wanted]
        for request, outcome in self._caller.call_all(requests):
            yield by_subject[tuple(request.subject.items())], _translation(outcome)


def _translation(outcome: Answer | CallProblem) -> str | TranslationError:
    if not isinstance(outcome, Answer):
        return TranslationError(str(outcome))
    try:
        return read_text(outcome.text, "translation")
    except TranslationError as problem:
        return problem


class FileTranslator:
    """Ready translations from a CSV with the columns motion_id, language and text."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path

    def translate(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, str | TranslationError]]:
        """Raises TranslationError, naming every row that cannot be used, before the first cell."""
        texts = self._texts()
        for cell in cells:
            text = texts.get((cell.motion_id, cell.language))
            yield cell, text if text is not None else TranslationError(f"{self._path} has no row for it")

    def _texts(self) -> dict[tuple[str, str], str]:
        texts: dict[tuple[str, str], str] = {}
        faults = []
        try:
            for row in read_csv(LineReader(self._path), ("motion_id", "language", "text")):
                if isinstance(row.content, Unusable):
                    faults.append(f"row at line {row.line}: {row.content.detail}")
                    continue
                place = (row.content["motion_id"], row.content["language"])
                text = (row.content["text"] or "").strip()
                if not all(place) or not text:
                    faults.append(f"row at line {row.line}: motion_id, language and text must all have a value.")
                elif texts.setdefault(place, text) != text:  # type: ignore[arg-type]
                    faults.append(f"row at line {row.line}: another row says something else about {'/'.join(place)}.")
        except UnreadableFile as unreadable:
            faults.append(unreadable.detail)
        if faults:
            raise TranslationError(f"{self._path} cannot be used. " + " ".join(faults))
        return texts


class GoogleTranslator(Generic[Wanted]):
    """Google Cloud Translation (v2, plain text), with the key from the environment.

    Each translation is written to `journal` before it is used, so that none is paid for twice. It owns the retries of
    its requests; a refusal that is not transient ends the work, and every cell not yet translated gets its reason.
    """

    name = "google"

    def __init__(
        self,
        journal: Path,
        source_language: str,
        *,
        endpoint: str = GOOGLE_ENDPOINT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._journal = journal
        self._source_language = source_language
        self._endpoint = endpoint
        self._sleep = sleep

    def translate(self, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, str | TranslationError]]:
        """Raises TranslationError when the key or the library is missing and there is something to ask."""
        known = self._known()
        asked = [one for one in wanted if _journal_key(one, self._source_language) not in known]
        yield from ((one, text) for one in wanted if (text := known.get(_journal_key(one, self._source_language))))
        if not asked:
            return
        with self._client() as client:
            refusal: TranslationError | None = None
            for one in asked:
                if refusal is None:
                    try:
                        text = self._ask(client, one)
                    except TranslationError as problem:
                        refusal = problem
                    else:
                        self._remember(one, text)
                        yield one, text
                        continue
                yield one, refusal

    def _client(self) -> httpx.Client:
        key = os.environ.get(GOOGLE_KEY)
        if not key:
            raise TranslationError(f"{GOOGLE_KEY} is not set. Set it to a Google Cloud key that may use Translation.")
        try:
            import httpx
        except ModuleNotFoundError as error:
            raise TranslationError(
                "httpx is not installed. Run: .venv/bin/pip install -c requirements.lock -e '.[generate]'"
            ) from error
        # In a header and not in the address, which error messages and logs repeat.
        return httpx.Client(headers={"X-Goog-Api-Key": key}, timeout=60)

    def _ask(self, client: httpx.Client, one: Cell | Passage) -> str:
        import httpx

        body = {"q": one.source_text, "source": self._source_language, "target": one.language, "format": "text"}
        told = "no attempt was made"
        for attempt in range(_ATTEMPTS):
            wait_s = min(_LONGEST_WAIT_S, 2.0**attempt)
            try:
                response = client.post(self._endpoint, json=body)
            except httpx.TransportError as error:
                told = type(error).__name__
            else:
                if response.status_code == 200:
                    return _google_text(response)
                told = f"status {response.status_code}: {_google_message(response)}"
                if response.status_code not in _TRANSIENT:
                    raise TranslationError(f"Google refuses to translate ({told}). Check the key and its quota.")
                after = response.headers.get("retry-after", "")
                wait_s = min(_LONGEST_WAIT_S, float(after)) if after.isdigit() else wait_s
            if attempt < _ATTEMPTS - 1:
                self._sleep(wait_s)
        raise TranslationError(f"Google did not translate in {_ATTEMPTS} attempts ({told}). Try again later.")

    def _known(self) -> dict[str, str]:
        if not self._journal.exists():
            return {}
        known = {}
        for line in self._journal.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                # The end of a line that a killed run was writing: that translation is asked for again.
                continue
            known[entry["key"]] = entry["text"]
        return known

    def _remember(self, one: Cell | Passage, text: str) -> None:
        self._journal.parent.mkdir(parents=True, exist_ok=True)
        entry = {"key": _journal_key(one, self._source_language), "cell": one.name, "text": text}
        with self._journal.open("ab") as journal:
            journal.write(b"\n" + json.dumps(entry, ensure_ascii=False).encode())
            journal.flush()
            os.fsync(journal.fileno())


def _journal_key(one: Cell | Passage, source_language: str) -> str:
    return hashlib.sha256(f"{source_language}\0{one.language}\0{one.source_text}".encode()).hexdigest()


def _google_text(response: httpx.Response) -> str:
    try:
        text: Any = response.json()["data"]["translations"][0]["translatedText"]
    except (ValueError, KeyError, IndexError, TypeError):
        text = None
    if not isinstance(text, str) or not text.strip():
        raise TranslationError("Google's answer holds no translation. Try again later.")
    return text


def _google_message(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["message"])[:200]
    except (ValueError, KeyError, TypeError):
        return "no reason given"
