"""A judge's answer into a label, a function or scores, or a failure with its reason."""

from ingest.judge.answers import (
    DIMENSIONS,
    FUNCTIONS,
    FailedJudgment,
    FunctionLabel,
    OutcomeScores,
    PairLabel,
    parse_judgment,
)
from ingest.judge.judgments import JudgmentReport, parse_judgments

__all__ = [
    "DIMENSIONS",
    "FUNCTIONS",
    "FailedJudgment",
    "FunctionLabel",
    "JudgmentReport",
    "OutcomeScores",
    "PairLabel",
    "parse_judgment",
    "parse_judgments",
]
