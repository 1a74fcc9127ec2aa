"""Prompts: what each holds, how conditions differ, and which packs are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.reference import languages, turn_template
from ingest.run.planned import PlannedSession
from ingest.run.prompts import PACKS, PLACEHOLDERS, frame_of_turn, load_pack, prompt_sha256, render_turn
from ingest.run.templates import TemplateError, fill

# The languages of the paper come first; the diversity rule is written in these.
LANGUAGES = [language.language for language in languages()[:6]]
TURNS = [turn.turn_index for turn in turn_template()]
PACK = load_pack()
SPEECHES = [f"Speech number {index} of the debate." for index in TURNS]


def planned(**fields: object) -> PlannedSession:
    settings = {
        "session_id": "M1-en-baseline-r1",
        "motion_id": "M1",
        "motion_text": "This house would plant trees.",
        "language": "en",
        "condition": "baseline",
        "repeat": 1,
        "role_mapping": {"pro_1": "a", "con_1": "b", "pro_2": "c", "con_2": "d"},
    }
    return PlannedSession(**settings | fields)  # type: ignore[arg-type]


def rendered(turn: int, **fields: object) -> str:
    return render_turn(PACK, planned(**fields), turn, SPEECHES[: turn - 1])


def without(text: str, block: str) -> str:
    assert text.count(block) == 1
    return text.replace(block, "", 1)


@pytest.fixture
def own_pack(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACKS / "reprise", tmp_path / "mine"))


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("condition", list(PACK.conditions))
def test_a_prompt_holds_every_earlier_speech_exactly_once(turn: int, condition: str) -> None:
    prompt = rendered(turn, condition=condition)
    assert [prompt.count(speech) for speech in SPEECHES] == [1] * (turn - 1) + [0] * (9 - turn)


def test_the_previous_speech_stands_in_its_place_and_the_others_in_the_order_they_were_given() -> None:
    prompt = rendered(5)
    places = [prompt.index(SPEECHES[turn - 1]) for turn in (4, 1, 2, 3)]
    assert places == sorted(places)


def test_the_first_prompt_invents_no_opponent() -> None:
    prompt = rendered(1)
    assert "(none: this is the first speech of the debate)" in prompt
    assert "Con First Speaker" not in prompt


@pytest.mark.parametrize(("turn", "told"), [(1, "Opening"), (4, "Rebuttal"), (6, "Cross-examination"), (8, "Closing")])
def test_a_prompt_says_motion_language_role_side_and_phase(turn: int, told: str) -> None:
    prompt = rendered(turn, language="ru", motion_text="Эта палата посадила бы деревья.")
    role = {1: "Pro First", 4: "Con First", 6: "Con Second", 8: "Con Second"}[turn]
    for text in ("Эта палата посадила бы деревья.", "Russian", f"{role} Speaker", f"phase: {told}"):
        assert text in prompt


def test_the_baseline_states_eight_rules_and_the_minimal_condition_three_of_them() -> None:
    def rules(condition: str) -> list[str]:
        block = {**PACK.conditions["baseline"], **PACK.conditions[condition]}["rules"]
        return [line for line in block.splitlines() if line.startswith("- ")]

    assert len(rules("baseline")) == len(rules("p1_paraphrase")) == 8
    assert len(rules("p2_minimal")) == 3
    assert set(rules("p2_minimal")) < set(rules("baseline"))
    assert not set(rules("p1_paraphrase")) & set(rules("baseline"))


@pytest.mark.parametrize("turn", [1, 2, 8])
@pytest.mark.parametrize(
    ("condition", "language"),
    [
        *(("diversity", language) for language in LANGUAGES),
        *((name, language) for name in ("p3_strong_novelty", "p4_targeted_clash") for language in ("en", "zh")),
    ],
)
def test_a_condition_with_an_addition_is_the_baseline_byte_for_byte_but_for_it(
    condition: str, language: str, turn: int
) -> None:
    own = rendered(turn, condition=condition, language=language)
    addition = PACK.conditions[condition][f"addition.{language}"]
    assert without(own, f"{addition}\n\n").encode() == rendered(turn, language=language).encode()
    before, after = own.split(addition)
    assert before.endswith(f"{PACK.conditions['baseline']['rules']}\n\n")
    assert after.startswith(f"\n\n{PACK.conditions['baseline']['length']}")


@pytest.mark.parametrize("turn", [1, 2, 8])
@pytest.mark.parametrize(
    ("condition", "replaced"), [("p1_paraphrase", ("opening", "rules")), ("p2_minimal", ("rules",))]
)
def test_a_condition_that_replaces_blocks_is_the_baseline_byte_for_byte_but_for_them(
    condition: str, replaced: tuple[str, ...], turn: int
) -> None:
    assert set(PACK.conditions[condition]) == set(replaced)
    own, baseline = rendered(turn, condition=condition), rendered(turn)
    length = PACK.conditions["baseline"]["length"]
    assert own.encode().split(length.encode())[1] == baseline.encode().split(length.encode())[1]
    if "opening" not in replaced:
        rules = PACK.conditions["baseline"]["rules"]
        assert own.encode().startswith(baseline.encode().split(rules.encode())[0])


def test_the_shipped_pack_has_the_six_conditions_and_the_diversity_rule_in_six_languages() -> None:
    assert list(PACK.conditions) == [
        "baseline",
        "diversity",
        "p1_paraphrase",
        "p2_minimal",
        "p3_strong_novelty",
        "p4_targeted_clash",
    ]
    assert set(PACK.conditions["diversity"]) == {f"addition.{language}" for language in LANGUAGES}


def test_a_condition_without_the_language_of_a_session_is_refused_before_any_call() -> None:
    with pytest.raises(TemplateError, match=r"p3_strong_novelty.*'fr'.*addition\.fr\.txt"):
        PACK.template("p3_strong_novelty", "fr")
    with pytest.raises(TemplateError, match=r"no condition 'p9'.*It has baseline, diversity"):
        PACK.template("p9", "en")


BRACES = st.lists(
    st.sampled_from([*(f"{{{name}}}" for name in PLACEHOLDERS), "{", "}", "{}", "{0}", "%s", "\\1", "a", " "])
)


@given(motion=BRACES.map("".join), speech=BRACES.map("".join))
def test_what_is_filled_in_is_never_read_as_a_template(motion: str, speech: str) -> None:
    motion, speech = f"M<{motion}>", f"S<{speech}>"
    prompt = render_turn(PACK, planned(motion_text=motion), 3, [speech, f"P{speech}"])
    assert prompt.count(motion) == 1
    assert prompt.count(f"\n{speech}") == 1
    assert prompt.count(f"\nP{speech}") == 1


def test_a_frame_is_the_prompt_with_the_places_of_the_speeches_left_open() -> None:
    frame = frame_of_turn(PACK, planned(), 1)
    assert fill(
        frame, {"previous_speech": "(none: this is the first speech of the debate)", "debate_history": "(none)"}
    ) == (rendered(1))
    assert prompt_sha256(frame_of_turn(PACK, planned(), 7)) != prompt_sha256(frame_of_turn(PACK, planned(), 8))


def test_a_pack_can_repeat_the_previous_speech_in_the_history(own_pack: Path) -> None:
    settings = (own_pack / "pack.yaml").read_text()
    (own_pack / "pack.yaml").write_text(settings.replace("history: earlier", "history: all"))
    prompt = render_turn(load_pack(own_pack), planned(), 4, SPEECHES[:3])
    assert [prompt.count(speech) for speech in SPEECHES[:3]] == [1, 1, 2]


def test_rendering_with_too_few_earlier_speeches_is_an_error() -> None:
    with pytest.raises(ValueError, match="turn 3 has 2 earlier speeches, not 1"):
        render_turn(PACK, planned(), 3, SPEECHES[:1])


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("context.txt", "Previous: {previous_speech}", r"lacks the placeholder \{debate_history\}"),
        ("context.txt", "{previous_speech} {debate_history} {previous_speech}", r"\{previous_speech\} more than once"),
        ("opening.txt", "{motion} {language_name} {role} {side} {turn_label}", r"unknown placeholder \{motion\}"),
        ("opening.txt", "{Motion text} {motion_text} {language_name} {role} {side} {turn_label}", r"\{Motion text\}"),
        (
            "conditions/p1_paraphrase/opening.txt",
            "{motion_text} {language_name} {role} {side}",
            r"p1_paraphrase.*turn_label",
        ),
        (
            "conditions/diversity/addition.zh.txt",
            "新规则 {speech}",
            r"diversity.*in 'zh'.*unknown placeholder \{speech\}",
        ),
        ("conditions/diversity/extra.txt", "A rule.", r"extra\.txt is no block of a condition"),
        ("conditions/baseline/rules.txt", "Rules: none.", r"would change the baseline"),
        ("preamble.txt", "Hello.", r"preamble\.txt is no block of a prompt"),
        ("length.txt", "\n", r"length\.txt is empty"),
        ("pack.yaml", "roles: {}", r"pack\.yaml must have exactly"),
        ("pack.yaml", "roles: [", r"pack\.yaml is not YAML"),
    ],
)
def test_a_pack_that_cannot_be_used_is_refused_in_words(own_pack: Path, file: str, text: str, told: str) -> None:
    (own_pack / file).parent.mkdir(parents=True, exist_ok=True)
    (own_pack / file).write_text(text)
    with pytest.raises(TemplateError, match=told):
        load_pack(own_pack)


def test_a_pack_without_a_block_or_with_an_empty_condition_is_refused(own_pack: Path) -> None:
    (own_pack / "conditions" / "p5").mkdir()
    with pytest.raises(TemplateError, match=r"p5 has no \.txt file"):
        load_pack(own_pack)
    (own_pack / "conditions" / "p5").rmdir()
    (own_pack / "request.txt").unlink()
    with pytest.raises(TemplateError, match=r"request\.txt cannot be read"):
        load_pack(own_pack)
    with pytest.raises(TemplateError, match="Shipped: reprise"):
        load_pack("papers")


def test_line_ends_and_byte_order_marks_of_an_editor_do_not_change_a_pack(own_pack: Path) -> None:
    rules = (own_pack / "rules.txt").read_text()
    (own_pack / "rules.txt").write_bytes(b"\xef\xbb\xbf" + rules.replace("\n", "\r\n").encode() + b"\r\n")
    assert load_pack(own_pack).files == PACK.files


def test_a_changed_block_changes_the_digest_of_its_file_alone(own_pack: Path) -> None:
    block = own_pack / "conditions" / "diversity" / "addition.fr.txt"
    block.write_text(block.read_text() + "Encore.\n")
    changed = load_pack(own_pack)
    assert changed.digest != PACK.digest
    differing = {name for name in PACK.files if PACK.files[name] != changed.files[name]}
    assert differing == {"conditions/diversity/addition.fr.txt"}
    assert changed.files_for(["diversity"], ["en"]) == PACK.files_for(["diversity"], ["en"])
    assert changed.files_for(["diversity"], ["fr"]) != PACK.files_for(["diversity"], ["fr"])
    assert "conditions/p2_minimal/rules.txt" not in PACK.files_for(["diversity"], ["en"])
