"""In place of AMD's system-management bindings: a host full of GPUs of one architecture, named by FSE_GFX."""

import os
from enum import Enum

GPUS = 64
MEMORY = 288 << 30
DEVICE_IDS = {"gfx90a": "0x740f", "gfx942": "0x74a5", "gfx950": "0x75a0", "gfx1250": "0x75b0"}


class AmdSmiException(Exception):
    """The bindings' base error, which the release catches."""


class AmdSmiMemoryType(Enum):
    VRAM = 0


def amdsmi_init(*_: object) -> None:
    """There is nothing to open."""


def amdsmi_shut_down(*_: object) -> None:
    """There is nothing to close."""


def amdsmi_get_processor_handles() -> list[int]:
    return list(range(GPUS))


def amdsmi_get_gpu_asic_info(_handle: int) -> dict[str, str]:
    gfx = os.environ["FSE_GFX"]
    return {"target_graphics_version": gfx, "device_id": DEVICE_IDS.get(gfx, "0x0000"), "market_name": f"AMD {gfx}"}


def amdsmi_get_gpu_device_uuid(handle: int) -> str:
    return f"GPU-{handle}"


def amdsmi_get_gpu_memory_total(_handle: int, _kind: AmdSmiMemoryType) -> int:
    return MEMORY


def amdsmi_topo_get_link_type(_one: int, _other: int) -> dict[str, int]:
    return {"type": 2, "hops": 1}


def amdsmi_topo_get_numa_node_number(_handle: int) -> int:
    return 0
