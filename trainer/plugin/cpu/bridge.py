"""What a training worker fetches of each row: its tensors, not the text that came with the data set."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from klinic.trainer.plugin.wrap import around

MULTI_MODAL = "multi_modal_inputs"  # the one field of a row that a model reads and that is no tensor


def patch(module: ModuleType) -> None:
    """Have a worker leave text where it is: unpacking a row's questions and answers takes longer than its tensors."""
    around(module, "async_kv_batch_meta2batch_meta", _tensors_only)


async def _tensors_only(original: Any, meta: Any) -> Any:
    return without_text(await original(meta))


def without_text(meta: Any) -> Any:
    """TransferQueue's BatchMeta of the same rows without text; unlike its `select_fields` it copies nothing deep."""
    schema = {name: meta.field_schema[name] for name in wanted(meta.field_schema)}
    if len(schema) == len(meta.field_schema):
        return meta
    backend = [
        {name: each for name, each in row.items() if name in schema or name.startswith("_")}
        for row in meta._custom_backend_meta
    ]
    return type(meta)(
        meta.global_indexes,
        meta.partition_ids,
        schema,
        meta.production_status,
        meta.extra_info,
        meta.custom_meta,
        backend,
    )


def wanted(schema: dict[str, dict[str, Any]]) -> list[str]:
    """The fields of TransferQueue's schema that a model or a loss can compute with."""
    return [name for name, each in schema.items() if not each.get("is_non_tensor") or name == MULTI_MODAL]
