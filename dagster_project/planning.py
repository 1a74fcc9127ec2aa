"""A study's generation, phase by phase: grids, locks, and the calls that they take. The caller decides what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dagster_project.study import (
    DebatePhase,
    DecodingPhase,
    ExtractionPhase,
    Generation,
    Study,
    StudyError,
    TranslationPhase,
)
from ingest.extract import SENTENCES, Speech, extraction_request, load_extraction_prompt
from ingest.reference import turn_template
from ingest.run.agents import Agent, load_agents
from ingest.run.call import Caller
from ingest.run.estimate import (
    ExpectedCall,
    PlannedCalls,
    continuation_call,
    debate_calls,
    expected_call,
    planned_calls,
    speech_bytes,
)
from ingest.run.lock import Grid, lock_grid, read_locks
from ingest.run.plan import (
    MotionTexts,
    choose_motions,
    continuation_grid,
    debate_grid,
    held_roles,
    planned_continuations,
    planned_sessions,
    read_motions,
)
from ingest.run.planned import PlannedSession
from ingest.run.prompts import Pack, load_pack
from ingest.run.roles import assign_roles
from ingest.translate import FileTranslator, GoogleTranslator, ModelTranslator, Translator
from ingest.translate.answers import request_for
from ingest.translate.motions import Cell

GOOGLE = "google"

# An extractor's answer is about as much longer than the speech, in bytes, as in the sample archive.
_ANSWER_PER_SPEECH = 1.15
_JUDGMENT_BYTES = 400


@dataclass(frozen=True)
class Plan:
    """What a study's generation asks for. Grids are made of the motions file as it is."""

    study: Study
    generation: Generation

    @cached_property
    def agents(self) -> dict[str, Agent]:
        return load_agents(self.generation.agents_file) if self.generation.agents_file else load_agents()

    @cached_property
    def pack(self) -> Pack:
        return load_pack(self.generation.pack)

    @cached_property
    def motions(self) -> dict[str, dict[str, str]]:
        if not self.generation.motions.is_file():
            raise StudyError(
                f"There is no motions file {self.generation.motions}. Write one record a motion into it, with its text "
                f"in {self.study.reference_language!r} at least (docs/archive-format.md)."
            )
        return read_motions(self.generation.motions)

    @cached_property
    def role_mappings(self) -> dict[str, dict[str, str]]:
        """The agent of each role by motion: over all motions, so that a phase over a few of them has the same."""
        held = held_roles(read_locks(self.locks))
        return assign_roles(self.motions, self.generation.agents, self.generation.role_seed, held)

    @property
    def locks(self) -> Path:
        """The directory of the locked grids."""
        return self.generation.records / "locks"

    def grid(self, name: str, motions: MotionTexts | None = None) -> Grid:
        """The grid of a phase of debates or of decoding diagnostics, from the motions file or the texts given."""
        phase = self._phase(name)
        texts = self.motions if motions is None else motions
        if isinstance(phase, DebatePhase):
            return debate_grid(
                name,
                texts,
                motion_ids=choose_motions(self.motions, phase.motions),
                languages=self._languages(phase.languages),
                conditions=phase.conditions,
                repeats=phase.repeats,
                role_mappings=self.role_mappings,
                pack=self.pack,
                agents=self.agents,
            )
        if isinstance(phase, DecodingPhase):
            return continuation_grid(
                name,
                self._of(name, phase, texts),
                turns=phase.turns,
                agent_names=phase.agents,
                settings=[
                    *({"temperature": value} for value in phase.temperature),
                    *({"top_p": value} for value in phase.top_p),
                ],
                pack=self.pack,
                agents=self.agents,
            )
        raise StudyError(f"Phase {name!r} generates no speeches, so it has no grid.")

    def lock(self, name: str) -> Grid:
        """The grid of a phase, locked: from here on it cannot change under this name. Raises LockError when it did."""
        grid = self.grid(name)
        lock_grid(grid, self.locks)
        return grid

    def lock_all(self, names: Sequence[str] | None = None) -> list[Grid]:
        """The grids of the named phases, or of all, locked; those that generate no speeches have none."""
        phases = [(name, self._phase(name)) for name in names or self.generation.phases]
        return [self.lock(name) for name, phase in phases if isinstance(phase, DebatePhase | DecodingPhase)]

    def locked(self) -> list[Grid]:
        """The grids that have been locked so far: what has been asked for."""
        return read_locks(self.locks)

    def sessions_of(self, name: str) -> list[PlannedSession]:
        """The debates that an extraction phase takes apart again."""
        phase = self._phase(name)
        if not isinstance(phase, ExtractionPhase):
            raise StudyError(f"Phase {name!r} is none of extraction.")
        return self._of(name, phase, self.motions)

    def translator(self, name: str, caller: Caller) -> Translator[Cell]:
        """What translates in a phase of translation."""
        phase, reference = self._phase(name), self.study.reference_language
        if not isinstance(phase, TranslationPhase):
            raise StudyError(f"Phase {name!r} translates nothing.")
        if phase.translator == GOOGLE:
            return GoogleTranslator(self.generation.records / "google.jsonl", reference)
        if phase.reads_a_file:
            return FileTranslator(Path(phase.translator))
        return ModelTranslator(self._agent(phase.translator), caller, reference)

    def calls(self, name: str) -> list[PlannedCalls]:
        """The calls of a phase and what they take; a text that is not translated yet counts as its original."""
        phase = self._phase(name)
        if isinstance(phase, TranslationPhase):
            return [*self._google_calls(name, phase), *planned_calls(name, self._translation_calls(phase))]
        if isinstance(phase, ExtractionPhase):
            sessions = self._of(name, phase, self._whole_texts)
            return planned_calls(name, self._extraction_calls(sessions, phase.extractors))
        grid = self.grid(name, self._whole_texts)
        if isinstance(phase, DebatePhase):
            sessions = planned_sessions(grid)
            speeches = (call for one in sessions for call in debate_calls(self.pack, one, self.agents))
            extractions = self._extraction_calls(sessions, self.generation.extractors)
        else:
            continuations = planned_continuations(grid)
            speeches = (continuation_call(self.pack, one, self.agents) for one in continuations)
            # The speeches before the new one are extracted with their own debate.
            extractions = (
                call
                for one in continuations
                for call in self._extraction_calls([one.context], self.generation.extractors, (one.turn_index,))
            )
        return planned_calls(name, [*speeches, *extractions])

    def untranslated(self) -> list[str]:
        """The cells (motion/language) that the phases need and the motions file lacks, by name."""
        needed = {
            language
            for phase in self.generation.phases.values()
            if not isinstance(phase, TranslationPhase)
            for language in self._languages(phase.languages)
        }
        return [f"{motion}/{one}" for motion, texts in self.motions.items() for one in sorted(needed - texts.keys())]

    @cached_property
    def _whole_texts(self) -> MotionTexts:
        languages = {one for phase in self.generation.phases.values() for one in self._languages(phase.languages)}
        return {
            motion: {one: texts.get(one, self._original(motion)) for one in languages}
            for motion, texts in self.motions.items()
        }

    def _phase(self, name: str) -> DebatePhase | DecodingPhase | ExtractionPhase | TranslationPhase:
        if name not in self.generation.phases:
            raise StudyError(f"The study has no phase {name!r}. It has {', '.join(self.generation.phases)}.")
        return self.generation.phases[name]

    def _languages(self, named: tuple[str, ...] | None) -> tuple[str, ...]:
        everywhere = dict.fromkeys(language for texts in self.motions.values() for language in texts)
        return named or self.study.languages or tuple(everywhere)

    def _original(self, motion: str) -> str:
        reference = self.study.reference_language
        if reference not in self.motions[motion]:
            raise StudyError(f"{self.generation.motions}: motion {motion!r} has no text in {reference!r}. Add it.")
        return self.motions[motion][reference]

    def _of(self, name: str, phase: DecodingPhase | ExtractionPhase, texts: MotionTexts) -> list[PlannedSession]:
        """The sessions of the phase that this one is `of`, in this one's motions and languages."""
        motions = set(choose_motions(self.motions, phase.motions))
        languages = set(self._languages(phase.languages))
        every = planned_sessions(self.grid(phase.of, texts))
        chosen = [one for one in every if one.motion_id in motions and one.language in languages]
        if absent := sorted(motions - {one.motion_id for one in chosen}):
            raise StudyError(f"Phase {name!r} asks for motions that phase {phase.of!r} lacks: {', '.join(absent[:5])}.")
        return chosen

    def _extraction_calls(
        self, sessions: list[PlannedSession], extractors: tuple[str, ...], turns: tuple[int, ...] | None = None
    ) -> Iterator[ExpectedCall]:
        prompt = load_extraction_prompt()
        for extractor in extractors:
            if extractor == SENTENCES:
                continue
            for one in sessions:
                for turn in turn_template():
                    if turns is None or turn.turn_index in turns:
                        size = speech_bytes(one.language, turn.turn_index)
                        speech = Speech(
                            one.session_id, turn.turn_index, one.motion_text, one.language, turn.side, "x" * size
                        )
                        request = extraction_request(prompt, speech, self._agent(extractor))
                        yield expected_call(request, round(size * _ANSWER_PER_SPEECH))

    def _translation_calls(self, phase: TranslationPhase) -> Iterator[ExpectedCall]:
        reference = self.study.reference_language
        back_translator, judge = self._agent(phase.back_translator), self._agent(phase.judge)
        is_model = phase.translator != GOOGLE and not phase.reads_a_file
        for cell in self._cells(phase):
            original = self._original(cell.motion_id)
            size = len((cell.text or original).encode())
            if is_model and cell.text is None:
                yield expected_call(request_for("translate", self._agent(phase.translator), cell, reference), size)
            with_text = Cell(cell.motion_id, cell.language, original, cell.text or original)
            yield expected_call(
                request_for("back_translate", back_translator, with_text, reference), len(original.encode())
            )
            yield expected_call(request_for("adequacy", judge, with_text, reference, original), _JUDGMENT_BYTES)

    def _google_calls(self, name: str, phase: TranslationPhase) -> list[PlannedCalls]:
        """Google's requests. It charges by character, which the price table does not hold."""
        wanted = [cell for cell in self._cells(phase) if cell.text is None]
        if phase.translator != GOOGLE or not wanted:
            return []
        return [PlannedCalls(name, "translation", GOOGLE, GOOGLE, len(wanted), 0, 0, None)]

    def _cells(self, phase: TranslationPhase) -> list[Cell]:
        reference = self.study.reference_language
        return [
            Cell(motion, language, self._original(motion), self.motions[motion].get(language))
            for motion in choose_motions(self.motions, phase.motions)
            for language in phase.languages
            if language != reference
        ]

    def _agent(self, name: str) -> Agent:
        if name not in self.agents:
            raise StudyError(f"No agent is called {name!r}. Declared: {', '.join(self.agents)}.")
        return self.agents[name]


def plan_of(study: Study) -> Plan:
    """The plan of a study. Raises StudyError when the study generates nothing."""
    if study.generation is None:
        raise StudyError(
            f"Study '{study.name}' has no section 'generation', so there is nothing to plan. "
            "See docs/running-a-study.md for what to write."
        )
    return Plan(study, study.generation)
