"""From one debate's raw content to a debate as the archive knows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.importers import languages, texts
from ingest.importers.findings import Findings
from ingest.importers.mapping import ClaimRule, Mapping, MappingError, PathError, TurnRule, Value, found
from ingest.importers.placing import Placer
from ingest.importers.sources import Content

STATUSES = ("complete", "partial", "failed")
_TURN_TEXTS = ("phase", "role", "side", "agent", "model_id", "created_at")
_CLAIM_TEXTS = ("warrant", "evidence_or_example", "argument_type")


@dataclass
class Turn:
    """One speech. `key` is what claims call it; `extra` holds what the archive has no column for."""

    turn_index: int
    key: str | None
    text: str
    phase: str | None = None
    role: str | None = None
    side: str | None = None
    agent: str | None = None
    model_id: str | None = None
    created_at: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    claims: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Debate:
    """One debate in one language. `unplaced` are the claims that no turn holds."""

    session_id: str
    motion_id: str | None
    motion_text: str
    language: str
    condition: str
    repeat: int | None
    status: str | None
    started_at: str | None
    finished_at: str | None
    attributes: dict[str, Any]
    turns: list[Turn]
    unplaced: list[dict[str, Any]]
    file: str
    place: str


@dataclass(frozen=True)
class _Scope:
    """What a value may be looked up in. `at` are the positions in the nested lists, counted from 1."""

    item: Any
    debate: Any
    of_file: dict[str, str]
    language: str | None
    at: tuple[int, ...] = ()


class DebateReader:
    """Reads debates by a mapping, and remembers which of its paths found something."""

    def __init__(self, mapping: Mapping, findings: Findings) -> None:
        self._mapping = mapping
        self._findings = findings
        self._tried: Counter[str] = Counter()
        self._hit: Counter[str] = Counter()
        self._pending: list[tuple[str, str, str, str]] = []

    def read(self, content: Content) -> Iterator[Debate]:
        """The debate in `content`, once per language of the mapping; none when it has no turn."""
        for language in self._mapping.languages or (None,):
            try:
                debate = self._debate(content, language)
            except PathError as error:
                self._pending.clear()
                self._findings.add("debate_unreadable", content.file, content.place, str(error))
                continue
            if not debate.turns and language:
                # What each of its turns lacks in this language is one thing to say, not many.
                self._pending.clear()
                self._note("language_absent", debate, "")
            elif not debate.turns:
                self._note("debate_without_turns", debate, "")
            self._tell()
            if debate.turns:
                yield debate

    def unused_paths(self) -> list[str]:
        """The paths that found nothing anywhere."""
        return sorted(path for path in self._tried if not self._hit[path])

    def _debate(self, content: Content, language: str | None) -> Debate:
        rule = self._mapping.debate
        scope = _Scope(content.value, content.value, content.of_file, language)
        session_id = self._string(rule.id, scope) or content.of_file["path"]
        debate = Debate(
            session_id=f"{session_id}-{language}" if language else session_id,
            motion_id=self._string(rule.motion_id, scope),
            motion_text=self._string(rule.motion, scope) or "",
            language=languages.UNDETERMINED,
            condition=self._string(rule.condition, scope) or "baseline",
            repeat=None,
            status=None,
            started_at=self._string(rule.started_at, scope),
            finished_at=self._string(rule.finished_at, scope),
            attributes=self._attributes(rule.attributes, scope),
            turns=[],
            unplaced=[],
            file=content.file,
            place=content.place,
        )
        debate.repeat = self._repeat(debate, scope)
        n_missing = self._read_turns(debate, scope)
        debate.language = self._language(debate, language or self._string(rule.language, scope))
        debate.status = self._status(debate, scope, n_missing)
        if self._mapping.claims is not None:
            self._place_claims(debate, self._mapping.claims, scope)
        return debate

    def _read_turns(self, debate: Debate, scope: _Scope) -> int:
        """Fills the debate's turns; returns how many speeches are missing. A missing speech keeps its number."""
        index = n_missing = 0
        first_said: dict[str, int] = {}
        for rule in self._mapping.turns:
            for items in self._turn_items(rule, scope, debate):
                index += 1
                turn = self._turn(rule, items, index, debate)
                if turn is None:
                    n_missing += 1
                    continue
                words = " ".join(turn.text.split())
                if words and first_said.setdefault(words, index) != index:
                    turn.extra["repeats_turn"] = first_said[words]
                    self._note("turn_repeated", debate, f"turn {index}", f"It repeats turn {first_said[words]}.")
                debate.turns.append(turn)
        return n_missing

    def _turn_items(self, rule: TurnRule, scope: _Scope, debate: Debate) -> Iterator[list[_Scope]]:
        """The items of each turn: one, or the neighbours that `merge` makes one of."""
        items = list(self._items(rule.each, scope))
        if rule.where is not None:
            kept = []
            for item in items:
                if found(rule.where, item.item):
                    kept.append(item)
                else:
                    self._note("item_not_selected", debate, f"item {'.'.join(map(str, item.at))}")
            items = kept
        if rule.order_by:
            items.sort(key=lambda item: tuple(_order(self._found(value, item)) for value in rule.order_by))
        if rule.merge is None:
            yield from ([item] for item in items)
            return
        run: list[_Scope] = []
        for item in items:
            if run and self._found(rule.merge, item) != self._found(rule.merge, run[-1]):
                yield run
                run = []
            run.append(item)
        if run:
            yield run

    def _items(self, each: Sequence[str], scope: _Scope) -> Iterator[_Scope]:
        if not each:
            yield scope
            return
        self._tried[each[0]] += 1
        items = found(each[0], scope.item)
        if isinstance(items, dict | str):
            raise PathError(f"The path {each[0]!r} gives {_kind(items)} where a list is needed. Mend `each`.")
        for position, item in enumerate(items or (), start=1):
            self._hit[each[0]] += 1
            inner = _Scope(item, scope.debate, scope.of_file, scope.language, (*scope.at, position))
            yield from self._items(each[1:], inner)

    def _turn(self, rule: TurnRule, items: list[_Scope], index: int, debate: Debate) -> Turn | None:
        """The turn that these items are, None when it is marked as missing or is no text."""
        place = f"turn {index}"
        said = [value for item in items if not self._is_missing(value := self._found(rule.text, item))]
        if not said:
            self._note("speech_missing", debate, place)
        spoken = [text for value in said if (text := self._text(value, debate, place)) is not None]
        if not spoken:
            return None
        turn = Turn(index, None, "\n\n".join(spoken))
        for name in _TURN_TEXTS:
            setattr(turn, name, self._string(getattr(rule, name), items[0]))
        turn.key = self._string(rule.key, items[0])
        if attributes := self._attributes(rule.attributes, items[0]):
            turn.extra["attributes"] = attributes
        self._clean(turn, debate, place)
        for item in items if rule.claims else ():
            turn.claims.extend(claim for claim in self._claims(rule.claims, item, debate) if claim is not None)
        return turn

    def _is_missing(self, value: Any) -> bool:
        return value is None or value in self._mapping.missing or str(value) in self._mapping.missing

    def _text(self, value: Any, debate: Debate, place: str) -> str | None:
        if isinstance(value, list):
            value, n_other = texts.joined_parts(value)
            if n_other:
                self._note("part_not_text", debate, place, f"{n_other} parts are no text.")
        if not isinstance(value, str):
            self._note("turn_without_text", debate, place, f"Its text is {_kind(value)}.")
            return None
        return value

    def _clean(self, turn: Turn, debate: Debate, place: str) -> None:
        turn.text, n_replaced = texts.storable(turn.text)
        if n_replaced:
            self._note("character_replaced", debate, place, f"{n_replaced} characters became U+FFFD.")
        elif "\ufffd" in turn.text:
            self._note("replacement_character", debate, place)
        if self._mapping.reasoning_blocks == "set_aside":
            turn.text, reasoning, is_unclosed = texts.without_reasoning(turn.text)
            if is_unclosed:
                self._note("reasoning_unclosed", debate, place)
            if reasoning is not None:
                turn.extra["reasoning"] = reasoning
                self._note("reasoning_set_aside", debate, place)
        if not turn.text.strip():
            self._note("turn_empty", debate, place)
        if texts.is_mojibake(turn.text):
            self._note("mojibake", debate, place)
        if scripts := texts.second_script(turn.text):
            self._note("several_scripts", debate, place, f"It is written in {scripts}.")

    def _claims(self, rule: ClaimRule, scope: _Scope, debate: Debate) -> Iterator[dict[str, Any] | None]:
        """The claims below `scope` as an extractor's answer would hold them."""
        for item in self._items(rule.each, scope) if rule.each != ["@"] else self._each_or_self(scope):
            claim = self._string(rule.claim, item)
            if claim is None or not claim.strip() or claim in self._mapping.missing:
                self._note("claim_blank", debate, f"claim {'.'.join(map(str, item.at))}")
                continue
            unit: dict[str, Any] = {"claim": texts.storable(claim)[0]}
            for name in _CLAIM_TEXTS:
                unit[name] = texts.storable(self._string(getattr(rule, name), item) or "")[0]
            if rule.turn is not None:
                unit["turn"] = self._string(rule.turn, item)
            if rule.agent is not None:
                unit["agent"] = self._string(rule.agent, item)
            if attributes := self._attributes(rule.attributes, item):
                unit["attributes"] = attributes
            yield unit

    @staticmethod
    def _each_or_self(scope: _Scope) -> Iterator[_Scope]:
        items = scope.item if isinstance(scope.item, list) else [scope.item]
        for position, item in enumerate(items, start=1):
            yield _Scope(item, scope.debate, scope.of_file, scope.language, (*scope.at, position))

    def _place_claims(self, debate: Debate, rule: ClaimRule, scope: _Scope) -> None:
        """Puts the debate's claims into its turns: by the turn's key when they name one, else by their text."""
        by_key = {turn.key or str(turn.turn_index): turn for turn in debate.turns}
        placer = Placer([turn.text for turn in debate.turns])
        for number, claim in enumerate(self._claims(rule, scope, debate), start=1):
            if claim is None:
                continue
            place = f"claim {number}"
            key, agent = claim.pop("turn", None), claim.pop("agent", None)
            if key is not None:
                turn = by_key.get(key)
                if turn is None:
                    debate.unplaced.append({**claim, "turn": key})
                    self._note("claim_turn_unknown", debate, place, f"There is no turn {key!r}: {claim['claim'][:200]}")
                else:
                    turn.claims.append(claim)
                continue
            among = [i for i, turn in enumerate(debate.turns) if agent is None or turn.agent == agent]
            placed = placer.place(claim["claim"], among)
            if placed is None:
                debate.unplaced.append(claim if agent is None else {**claim, "agent": agent})
                self._note("claim_unplaced", debate, place, f"No turn holds it: {claim['claim'][:200]}")
            else:
                position, match = placed
                debate.turns[position].claims.append({**claim, "placed": match})

    def _language(self, debate: Debate, said: str | None) -> str:
        if said is not None:
            code = languages.listed(said)
            if code is None:
                self._note("language_unknown", debate, "", f"{said!r} is not in ingest/reference/languages.csv.")
            return code or languages.UNDETERMINED
        text = " ".join(turn.text for turn in debate.turns)[: 2 * languages.DETECTED_CHARACTERS]
        if not debate.turns:
            return languages.UNDETERMINED
        code, how = languages.detected(text)
        kind = "language_unknown" if code == languages.UNDETERMINED else "language_detected"
        self._note(kind, debate, "", how)
        return code

    def _status(self, debate: Debate, scope: _Scope, n_missing: int) -> str | None:
        said = self._string(self._mapping.debate.status, scope)
        if said in STATUSES:
            return said
        if said is not None:
            self._note("status_unknown", debate, "", f"Its status is {said!r}; translate it with `map`.")
            return None
        return "partial" if n_missing else "complete"

    def _repeat(self, debate: Debate, scope: _Scope) -> int | None:
        said = self._string(self._mapping.debate.repeat, scope)
        if said is None:
            return None
        if said.isascii() and said.isdigit() and 0 < int(said) < 2**31:
            return int(said)
        self._note("repeat_unreadable", debate, "", f"Its repeat is {said!r}.")
        return None

    def _attributes(self, rules: dict[str, Value], scope: _Scope) -> dict[str, Any]:
        values = {name: self._found(value, scope) for name, value in rules.items()}
        return {name: value for name, value in values.items() if value is not None}

    def _string(self, value: Value | None, scope: _Scope) -> str | None:
        """What was found as text; numbers and truth values as JSON writes them. None when nothing was found."""
        if value is None:
            return None
        result = self._found(value, scope)
        if isinstance(result, bool):
            return str(result).lower()
        if isinstance(result, float) and result.is_integer():
            return str(int(result))
        if isinstance(result, dict | list):
            raise PathError(f"The path {value} gives {_kind(result)} where one value is needed. Mend it.")
        return None if result is None or result == "" else texts.storable(str(result))[0]

    def _found(self, value: Value, scope: _Scope) -> Any:
        if value.constant is not None:
            return value.constant
        if value.level is not None:
            if value.level > len(scope.at):
                raise MappingError(f"level {value.level} is deeper than the lists that `each` goes through.")
            position = scope.at[value.level - 1]
            return f"{value.prefix}{position}" if value.prefix else position
        result = self._looked_up(value, scope)
        if value.map is not None and isinstance(result, str | int):
            result = value.map.get(result, value.map.get(str(result), result))
        if result is None or result == "":
            return value.default if value.default is not None else result
        return f"{value.prefix}{result}" if value.prefix else result

    def _looked_up(self, value: Value, scope: _Scope) -> Any:
        path = value.path if value.by_language is None else value.by_language.get(scope.language or "")
        if path is None:
            raise MappingError(f"by_language has no path for {scope.language!r}. Add it, or mend `languages`.")
        self._tried[path] += 1
        where = {"item": scope.item, "debate": scope.debate, "file": scope.of_file}[value.of]
        result = found(path, where)
        if result is not None:
            self._hit[path] += 1
        return result

    def _note(self, kind: str, debate: Debate, place: str, detail: str = "") -> None:
        where = ", ".join(part for part in (debate.place, debate.session_id, place) if part)
        self._pending.append((kind, debate.file, where, detail))

    def _tell(self) -> None:
        for finding in self._pending:
            self._findings.add(*finding)
        self._pending.clear()


def _order(value: Any) -> tuple[int, float, str]:
    """Numbers, and texts that are numbers, by size; then other texts; then what is missing."""
    if value is None:
        return 2, 0.0, ""
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0.0, str(value)


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}.get(type(value), "a number")
