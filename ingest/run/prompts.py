"""The prompt of a turn, put together from the plain text blocks of a pack [paper 3.1, C.1–C.3].

A pack is a folder:

    pack.yaml                       words: names of roles, sides and turns, what stands for a speech that is not there
    opening.txt rules.txt length.txt context.txt request.txt        the baseline, block by block
    conditions/<condition>/<block>.txt                              replaces the baseline's block
    conditions/<condition>/addition.txt, addition.<language>.txt    stands between the rules and the length

Blocks are one blank line apart. Scaffold and replaced blocks are in one language for all sessions; an addition can be
in the session's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ingest.reference import TemplateTurn, languages, turn_template
from ingest.run.planned import PlannedSession
from ingest.run.templates import TemplateError, check_placeholders, fill, read_template

PACKS = Path(__file__).with_name("packs")
BASELINE = "baseline"

PLACEHOLDERS = ("motion_text", "language_name", "role", "side", "turn_label", "previous_speech", "debate_history")
# The two that hold speeches: a second one would hold the same speeches again.
_SPEECHES = ("previous_speech", "debate_history")
_ENTRY_PLACEHOLDERS = ("turn_label", "role", "side", "speech")

_BEFORE_ADDITION = ("opening", "rules")
_AFTER_ADDITION = ("length", "context", "request")
_BLOCKS = (*_BEFORE_ADDITION, *_AFTER_ADDITION)
_ADDITION = re.compile(r"addition(?:\.([a-z]{2,3}))?")
_BETWEEN = "\n\n"

_LABELS = ("roles", "sides", "turn_labels")
_TEXTS = ("no_previous_speech", "no_debate_history", "history_entry")
_HISTORIES = ("earlier", "all")

_TURNS = {turn.turn_index: turn for turn in turn_template()}
_LANGUAGE_NAMES = {language.language: language.name for language in languages()}


@dataclass(frozen=True)
class Pack:
    """Prompt blocks by condition: `conditions[condition]` maps a file's stem to its text, `baseline` holds all blocks.

    `words` is pack.yaml; `files` maps each file of the pack to the SHA-256 of what is used of it, `digest` is over all.
    """

    name: str
    directory: Path
    words: Mapping[str, Any]
    conditions: Mapping[str, Mapping[str, str]]
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        return _sha256("\n".join(f"{name} {digest}" for name, digest in sorted(self.files.items())))

    def template(self, condition: str, language: str) -> str:
        """The turn's prompt with its placeholders. Raises TemplateError when the pack has none for the two."""
        own = self.conditions.get(condition)
        if own is None:
            raise TemplateError(
                f"The pack {self.directory} has no condition {condition!r}. It has {', '.join(self.conditions)}; "
                f"add the folder conditions/{condition}."
            )
        added = f"addition.{language}" if f"addition.{language}" in own else "addition"
        if added not in own and any(_ADDITION.fullmatch(stem) for stem in own):
            raise TemplateError(
                f"The pack {self.directory} has condition {condition!r}, but not in {language!r}. "
                f"Write conditions/{condition}/addition.{language}.txt."
            )
        blocks = {**self.conditions[BASELINE], **own}
        order = (*_BEFORE_ADDITION, added, *_AFTER_ADDITION)
        return _BETWEEN.join(blocks[block] for block in order if block in blocks)

    def files_for(self, conditions: Sequence[str], languages: Sequence[str]) -> dict[str, str]:
        """Of `files`, those that prompts of these conditions in these languages are made from."""

        def is_used(name: str) -> bool:
            folder, _, file = name.rpartition("/")
            addition = _ADDITION.fullmatch(file.removesuffix(".txt"))
            language = addition and addition[1]
            return (not folder or folder.removeprefix("conditions/") in conditions) and (
                language is None or language in languages
            )

        return {name: digest for name, digest in self.files.items() if is_used(name)}


def load_pack(named: str | Path = "reprise") -> Pack:
    """The pack shipped under that name, or in that folder, with its placeholders checked. Raises TemplateError."""
    directory = Path(named) if len(Path(named).parts) > 1 else PACKS / named
    if not directory.is_dir():
        shipped = ", ".join(sorted(path.name for path in PACKS.iterdir() if path.is_dir()))
        raise TemplateError(f"There is no prompt pack {directory}. Shipped: {shipped}; or give the path of a folder.")
    words_text = read_template(directory / "pack.yaml")
    conditions = {BASELINE: {block: read_template(directory / f"{block}.txt") for block in _BLOCKS}}
    own_folders = sorted(path for path in (directory / "conditions").glob("*") if path.is_dir())
    for folder in own_folders:
        conditions[folder.name] = _own_blocks(folder)
    if unread := sorted(path.name for path in directory.glob("*.txt") if path.stem not in _BLOCKS):
        raise TemplateError(f"{directory / unread[0]} is no block of a prompt. Blocks are {', '.join(_BLOCKS)}.")
    files = {"pack.yaml": _sha256(words_text)}
    for condition, blocks in conditions.items():
        prefix = "" if condition == BASELINE else f"conditions/{condition}/"
        files |= {f"{prefix}{stem}.txt": _sha256(text) for stem, text in blocks.items()}
    pack = Pack(directory.name, directory, _words(directory / "pack.yaml", words_text), conditions, files)
    for condition, blocks in conditions.items():
        added = sorted({match[1] or "en" for stem in blocks if (match := _ADDITION.fullmatch(stem))}) or ["en"]
        for language in added:
            where = f"The prompt of condition {condition!r} in {directory} (in {language!r})"
            check_placeholders(where, pack.template(condition, language), PLACEHOLDERS, once=_SPEECHES)
    return pack


def render_turn(pack: Pack, planned: PlannedSession, turn_index: int, earlier_speeches: Sequence[str]) -> str:
    """The prompt of a turn. `earlier_speeches` are those of turns 1 to `turn_index` − 1, in their order.

    With the pack's `history: earlier`, each of them stands in the prompt exactly once.
    """
    if len(earlier_speeches) != turn_index - 1:
        raise ValueError(f"turn {turn_index} has {turn_index - 1} earlier speeches, not {len(earlier_speeches)}")
    in_history = earlier_speeches if pack.words["history"] == "all" else earlier_speeches[:-1]
    entries = [
        fill(pack.words["history_entry"], {**_labels(pack, _TURNS[index]), "speech": speech})
        for index, speech in enumerate(in_history, start=1)
    ]
    return _rendered(
        pack,
        planned,
        turn_index,
        previous_speech=earlier_speeches[-1] if earlier_speeches else pack.words["no_previous_speech"],
        debate_history=_BETWEEN.join(entries) or pack.words["no_debate_history"],
    )


def frame_of_turn(pack: Pack, planned: PlannedSession, turn_index: int) -> str:
    """The prompt of a turn as far as it is known before the debate: placeholders stand where speeches will."""
    return _rendered(pack, planned, turn_index, **{name: f"{{{name}}}" for name in _SPEECHES})


def prompt_sha256(prompt: str) -> str:
    """What a turn's record keeps of its prompt."""
    return _sha256(prompt)


def _rendered(pack: Pack, planned: PlannedSession, turn_index: int, **speeches: str) -> str:
    return fill(
        pack.template(planned.condition, planned.language),
        {
            "motion_text": planned.motion_text,
            "language_name": _language_name(planned.language),
            **_labels(pack, _TURNS[turn_index]),
            **speeches,
        },
    )


def _labels(pack: Pack, turn: TemplateTurn) -> dict[str, str]:
    return {
        "turn_label": pack.words["turn_labels"][turn.phase],
        "role": pack.words["roles"][turn.role],
        "side": pack.words["sides"][turn.side],
    }


def _language_name(language: str) -> str:
    if language not in _LANGUAGE_NAMES:
        raise TemplateError(f"The language {language!r} has no name. Add it to ingest/reference/languages.csv.")
    return _LANGUAGE_NAMES[language]


def _own_blocks(folder: Path) -> dict[str, str]:
    if folder.name == BASELINE:
        raise TemplateError(f"{folder} would change the baseline, which is the blocks of the pack itself. Remove it.")
    stems = {path.stem: path for path in sorted(folder.glob("*.txt"))}
    if not stems:
        raise TemplateError(f"{folder} has no .txt file, so its condition would be the baseline. Add its block.")
    for stem, path in stems.items():
        if stem not in _BLOCKS and not _ADDITION.fullmatch(stem):
            raise TemplateError(
                f"{path} is no block of a condition. Blocks are {', '.join(_BLOCKS)}, addition and addition.<language>."
            )
    return {stem: read_template(path) for stem, path in stems.items()}


def _words(path: Path, text: str) -> dict[str, Any]:
    try:
        words = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise TemplateError(f"{path} is not YAML: {error}") from error
    wanted = {*_LABELS, *_TEXTS, "history"}
    if not isinstance(words, dict) or set(words) != wanted:
        differing = sorted(wanted ^ set(words if isinstance(words, dict) else ()))
        raise TemplateError(f"{path} must have exactly {', '.join(sorted(wanted))}; differing: {', '.join(differing)}.")
    named = {
        "roles": {turn.role for turn in _TURNS.values()},
        "sides": {turn.side for turn in _TURNS.values()},
        "turn_labels": {turn.phase for turn in _TURNS.values()},
    }
    for setting, names in named.items():
        entry = words[setting]
        if not isinstance(entry, dict) or set(entry) != names or not all(isinstance(v, str) for v in entry.values()):
            raise TemplateError(f"{path}: {setting} must give a text for each of {', '.join(sorted(names))}.")
    for setting in _TEXTS:
        if not isinstance(words[setting], str) or not words[setting].strip():
            raise TemplateError(f"{path}: {setting} must be a text.")
    if words["history"] not in _HISTORIES:
        raise TemplateError(f"{path}: history is {words['history']!r}; write {' or '.join(_HISTORIES)}.")
    entry = words["history_entry"]
    labels = _ENTRY_PLACEHOLDERS[:-1]
    check_placeholders(f"{path}: history_entry", entry, _ENTRY_PLACEHOLDERS, optional=labels, once=("speech",))
    return words


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
