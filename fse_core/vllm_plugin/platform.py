"""The platform that vLLM has found."""


def on_rocm() -> bool:
    """Whether vLLM runs on ROCm, as it has found out itself by the time that it loads plugins."""
    from vllm.platforms import current_platform

    return bool(current_platform.is_rocm())
