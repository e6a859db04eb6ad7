"""verl on a machine without an accelerator: platform, rollout on transformers, and what verl assumes of a GPU."""
