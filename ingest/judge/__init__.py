"""Judges asked, and their answers made a label, a function or scores, or a failure with its reason."""

from ingest.judge.answers import (
    DIMENSIONS,
    FUNCTIONS,
    FailedJudgment,
    FunctionLabel,
    OutcomeScores,
    PairLabel,
    parse_judgment,
)
from ingest.judge.asking import JudgingReport, Pair, Transcript, judge_outcomes, judge_pairs
from ingest.judge.blinding import Fault, blinding_faults
from ingest.judge.judgments import JudgmentReport, parse_judgments

__all__ = [
    "DIMENSIONS",
    "FUNCTIONS",
    "FailedJudgment",
    "Fault",
    "FunctionLabel",
    "JudgingReport",
    "JudgmentReport",
    "OutcomeScores",
    "Pair",
    "PairLabel",
    "Transcript",
    "blinding_faults",
    "judge_outcomes",
    "judge_pairs",
    "parse_judgment",
    "parse_judgments",
]
