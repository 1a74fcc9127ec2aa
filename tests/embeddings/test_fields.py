import hashlib

import pytest

from embeddings.fields import field_text, text_key


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("claim", "Fares deter the poor."),
        ("claim_warrant", "Fares deter the poor. Their trips are long."),
        ("claim_warrant_evidence", "Fares deter the poor. Their trips are long. Tallinn."),
    ],
)
def test_a_field_joins_its_stripped_parts_with_one_space(field, expected):
    assert field_text(" Fares deter the poor.\n", "\tTheir trips are long. ", " Tallinn.", field) == expected


def test_empty_blank_and_missing_parts_leave_no_space():
    assert field_text("Claim.", "  ", "Evidence.", "claim_warrant_evidence") == "Claim. Evidence."
    assert field_text("Claim.", None, "", "claim_warrant_evidence") == "Claim."


def test_white_space_inside_a_text_is_kept_as_delivered():
    assert field_text("a  b\u00a0\u200bc", None, None, "claim") == "a  b\u00a0\u200bc"


def test_the_key_is_the_sha256_of_the_stripped_utf8_text():
    assert text_key("  论点。 \n") == hashlib.sha256("论点。".encode()).digest()
    assert text_key("é") != text_key("e\u0301")
