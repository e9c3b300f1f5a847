"""Checkpoints that are only their headers' entries, and what a check makes of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fse_core import Report, Target, check
from fse_core.read.safetensors.facts import Headers, Problem, Tensor
from fse_core.read.source import model_from_dict
from fse_core.report import BREAKING
from tests.models import DEEPSEEK
from tests.safetensors_files import Entry

FILE = "model.safetensors"
WIDTH = HIDDEN = 256
Stored = Callable[[int, int], dict[str, Entry]]
"""The tensors of one projection by leaf, from its rows and columns."""


def plain(rows: int, columns: int) -> dict[str, Entry]:
    return {"weight": ("BF16", (rows, columns))}


def unscaled(rows: int, columns: int) -> dict[str, Entry]:
    return {"weight": ("F8_E4M3", (rows, columns))}


def blocks(rows: int, columns: int) -> dict[str, Entry]:
    return {**unscaled(rows, columns), "weight_scale_inv": ("F32", (-(-rows // 128), -(-columns // 128)))}


def one_scale(*shape: int) -> Stored:
    return lambda rows, columns: {**unscaled(rows, columns), "weight_scale": ("F32", shape)}


def rows_scaled(rows: int, columns: int) -> dict[str, Entry]:
    return {**unscaled(rows, columns), "weight_scale": ("F32", (rows,))}


def rows_in_a_column(rows: int, columns: int) -> dict[str, Entry]:
    return {**unscaled(rows, columns), "weight_scale": ("F32", (rows, 1))}


def mxfp4(rows: int, columns: int) -> dict[str, Entry]:
    return {"weight": ("U8", (rows, columns // 2)), "weight_scale": ("U8", (rows, columns // 32))}


def mxfp8(rows: int, columns: int) -> dict[str, Entry]:
    return {**unscaled(rows, columns), "weight_scale": ("U8", (rows, columns // 32))}


def renamed(stored: Stored, old: str, new: str) -> Stored:
    """The same with another name for one leaf."""
    return lambda rows, columns: {new if leaf == old else leaf: one for leaf, one in stored(rows, columns).items()}


def expert(name: str, stored: Stored, wide: int = WIDTH) -> dict[str, Entry]:
    """The three projections of one."""
    sizes = {"gate_proj": (wide, HIDDEN), "up_proj": (wide, HIDDEN), "down_proj": (HIDDEN, wide)}
    return {
        f"{name}.{projection}.{leaf}": entry
        for projection, (rows, columns) in sizes.items()
        for leaf, entry in stored(rows, columns).items()
    }


def tensors(
    routed: Stored, shared: Stored, *, wide: int = WIDTH, layers: tuple[int, ...] = (3, 4), name: str = "shared_experts"
) -> dict[str, Entry]:
    """Eight routed experts and the shared one of each layer."""
    made: dict[str, Entry] = {}
    for layer in layers:
        prefix = f"model.layers.{layer}.mlp"
        for number in range(8):
            made |= expert(f"{prefix}.experts.{number}", routed)
        made |= expert(f"{prefix}.{name}", shared, wide)
    return made


def without(entries: Mapping[str, Entry], *parts: str) -> dict[str, Entry]:
    """The entries whose names hold none of the parts."""
    return {name: entry for name, entry in entries.items() if not any(part in name for part in parts)}


def found(
    entries: Mapping[str, Entry],
    quantization: dict[str, Any] | None,
    config: dict[str, Any] = DEEPSEEK,
    *,
    problems: tuple[Problem, ...] = (),
    listed: Mapping[str, str] | None = None,
    complete: bool = True,
    **target: Any,
) -> Report:
    """The report for a config and these tensors, on gfx950 and without a draft unless the target says otherwise."""
    made = {name: Tensor(name=name, dtype=dtype, shape=shape, file=FILE) for name, (dtype, shape) in entries.items()}
    headers = Headers(tensors=made, files={}, problems=problems, complete=complete, listed=listed)
    block = {} if quantization is None else {"quantization_config": quantization}
    model = replace(model_from_dict({**config, **block}), headers=headers)
    return check(model, Target(**{"gfx": "gfx950", "draft": False, **target}))


def breaking(report: Report) -> list[str]:
    """The rules by which loading goes wrong."""
    return [finding.rule for finding in report.findings if finding.consequence in BREAKING]
