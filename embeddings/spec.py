"""What an encoder is: its settings, and the key that keeps vectors of different settings apart."""

import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass

# What to run in the project's folder when a library is missing: the versions that the project is tested with.
INSTALL = ".venv/bin/pip install -c requirements.lock -e ."
INSTALL_ENCODERS = ".venv/bin/pip install -c requirements.lock -e '.[encoders]'"


class EncoderSettingsError(ValueError):
    """The declared settings are incomplete, ill-typed, or not what the encoder would really do."""


class EncoderUnavailable(RuntimeError):
    """A library or the weights of an encoder are missing on this machine."""


class EncodingError(RuntimeError):
    """An encoder returned no usable vector for a text."""


@dataclass(frozen=True)
class EncoderSpec:
    """The settings of one encoder, as declared in `encoders.yaml`."""

    name: str
    backend: str
    model: str
    revision: str
    prefix: str
    dtype: str
    batch_size: int
    max_length: int | None
    normalize: bool

    def __post_init__(self) -> None:
        for field in ("name", "backend", "model", "revision", "prefix", "dtype"):
            if not isinstance(getattr(self, field), str):
                raise EncoderSettingsError(
                    f"encoder {self.name!r}: {field} must be text, not {getattr(self, field)!r}; put it in quotes"
                )
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", self.name):
            raise EncoderSettingsError(
                f"encoder {self.name!r}: a name becomes part of file names; "
                "use lower-case letters, digits, '.', '_' and '-'"
            )
        for field in ("batch_size", "max_length"):
            value = getattr(self, field)
            optional = field == "max_length" and value is None
            if not optional and (type(value) is not int or value < 1):
                raise EncoderSettingsError(
                    f"encoder {self.name!r}: {field} must be a whole number from 1, not {value!r}"
                )
        if type(self.normalize) is not bool:
            raise EncoderSettingsError(
                f"encoder {self.name!r}: normalize must be true or false, not {self.normalize!r}"
            )

    @property
    def key(self) -> str:
        """SHA-256 (hex) of every setting that can change a vector, which is all but the name."""
        settings = dataclasses.asdict(self)
        del settings["name"]
        return hashlib.sha256(json.dumps(settings, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    @property
    def directory_name(self) -> str:
        """`<name>-<first 12 digits of the key>`: where the vectors of these settings live."""
        return f"{self.name}-{self.key[:12]}"


@dataclass(frozen=True)
class Provenance:
    """Where a batch of vectors was computed, and with which weights and libraries."""

    device: str
    resolved_revision: str
    library_versions: dict[str, str]
