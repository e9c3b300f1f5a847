"""One process that passes for one of many: torch's groups have one member, and the release is told of more."""

import tempfile
from typing import Any


def initialize() -> None:
    """Set up the release's process groups for a single process."""
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.distributed import init_distributed_environment, initialize_model_parallel

    with tempfile.TemporaryDirectory() as folder, set_current_vllm_config(VllmConfig()):
        init_distributed_environment(
            world_size=1, rank=0, local_rank=0, backend="gloo", distributed_init_method=f"file://{folder}/rendezvous"
        )
        initialize_model_parallel(1, 1)


def pass_for(parallel: Any, stage: int) -> None:
    """Let each group look as large as `parallel` (the release's ParallelConfig) says; `stage` is the pipeline rank."""
    from vllm.distributed import parallel_state

    tp, pcp, dp = parallel.tensor_parallel_size, parallel.prefill_context_parallel_size, parallel.data_parallel_size
    sizes = {"_TP": tp, "_PCP": pcp, "_DP": dp, "_EP": tp * pcp * dp, "_EPLB": tp * pcp * dp}
    for name, size in sizes.items():
        _resize(getattr(parallel_state, name, None), size, 0)
    _resize(parallel_state._PP, parallel.pipeline_parallel_size, stage)


def stand_at(rank: int) -> None:
    """Let this process pass for another rank of the tensor parallel group."""
    from vllm.distributed import parallel_state

    group = parallel_state._TP
    _resize(group, group.world_size, rank)


def _resize(group: Any, size: int, rank: int) -> None:
    if group is not None:
        group.ranks, group.world_size = list(range(size)), size
        group.rank = group.rank_in_group = rank
