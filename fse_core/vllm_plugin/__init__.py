"""The plugin that vLLM itself finds, in the group `vllm.general_plugins`, and calls in each of its processes.

Importing this does nothing. Nor does `register`, unless platform and environment ask for fused shared experts.
"""

import os


def register() -> None:
    """Watch for the functions that are to be replaced. Called any number of times, by vLLM's own plugin loader.

    Never raises: an exception here would end vLLM's start.
    """
    from fse_core.plugged.options import read
    from fse_core.vllm_plugin import log
    from fse_core.vllm_plugin.platform import on_rocm

    try:
        options = read(os.environ)
        if not options.active or not on_rocm():
            return
        from fse_core.vllm_plugin import start

        start.once(options)
    except Exception as error:
        log.line("the plugin could not start and leaves vLLM as it is: %s: %s", type(error).__name__, error)
