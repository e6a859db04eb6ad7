"""klinic.yaml: one reader for all of its sections, checked against one JSON Schema that editors complete from."""

from klinic.diagnostics.settings.document import (
    NAME,
    SCHEMA_NAME,
    Document,
    SettingsError,
    has_section,
    read_section,
    schema_text,
)

__all__ = ["NAME", "SCHEMA_NAME", "Document", "SettingsError", "has_section", "read_section", "schema_text"]
