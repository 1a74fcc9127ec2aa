"""Which text of an argument is embedded, and the key it is stored under."""

import hashlib

FIELDS = {
    "claim": ("claim",),
    "claim_warrant": ("claim", "warrant"),
    "claim_warrant_evidence": ("claim", "warrant", "evidence_or_example"),
}


def field_text(claim: str | None, warrant: str | None, evidence_or_example: str | None, field: str) -> str:
    """The text of one field of `FIELDS`: its stripped, non-empty parts joined by one space."""
    parts = {"claim": claim, "warrant": warrant, "evidence_or_example": evidence_or_example}
    stripped = [(parts[part] or "").strip() for part in FIELDS[field]]
    return " ".join(part for part in stripped if part)


def text_key(text: str) -> bytes:
    """SHA-256 (32 bytes) of the stripped text in UTF-8, before any prefix."""
    return hashlib.sha256(text.strip().encode()).digest()
