"""Read the declared encoders and open one of them."""

import dataclasses
from pathlib import Path

import yaml

from embeddings.backends import BACKENDS, Encoder
from embeddings.spec import EncoderSettingsError, EncoderSpec

DECLARED = Path(__file__).with_name("encoders.yaml")


def load_specs(path: Path = DECLARED) -> dict[str, EncoderSpec]:
    """The encoders declared in a YAML file, by name, in the file's order.

    Raises:
        EncoderSettingsError: the file declares no encoders, one of them lacks a setting, has an unknown one or an
            ill-typed one, names an unknown backend, or shares its name with another.
    """
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    entries = document.get("encoders") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise EncoderSettingsError(f"{path}: expected a list under the key 'encoders'")

    settings = {field.name for field in dataclasses.fields(EncoderSpec)}
    specs: dict[str, EncoderSpec] = {}
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise EncoderSettingsError(f"{path}: entry {number} is not a list of settings: {entry!r}")
        where = f"{path}: encoder {entry.get('name', f'number {number}')!r}"
        if missing := sorted(settings - entry.keys()):
            raise EncoderSettingsError(f"{where} lacks {', '.join(missing)}")
        if unknown := sorted(map(str, entry.keys() - settings)):
            raise EncoderSettingsError(f"{where} has unknown settings {', '.join(unknown)}")
        try:
            spec = EncoderSpec(**entry)
        except EncoderSettingsError as error:
            raise EncoderSettingsError(f"{path}: {error}") from error
        if spec.backend not in BACKENDS:
            raise EncoderSettingsError(f"{where} names backend {spec.backend!r}; there are {', '.join(BACKENDS)}")
        if spec.name in specs:
            raise EncoderSettingsError(f"{where} is declared twice")
        specs[spec.name] = spec
    return specs


def open_encoder(spec: EncoderSpec) -> Encoder:
    """Load an encoder, which may take minutes and a download.

    Raises:
        EncoderUnavailable: its library or weights are missing; the message holds the command to run.
        EncoderSettingsError: the backend would do something else than declared.
    """
    return BACKENDS[spec.backend](spec)
