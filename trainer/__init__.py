"""klinic.trainer: see docs/design.md for what lives here and what it may import."""

if not __name__.startswith("klinic."):  # a second copy under the bare folder name would carry its own state
    raise ImportError("import klinic.trainer, not trainer: the folder is installed under the klinic namespace")
