"""What a single line says, if it is one of those that are known.

The words are the releases' own: model_executor/layers/fused_moe/utils.py:125, models/glm5next/common/model.py:1325,
platforms/rocm.py:1140, model_loader/base_loader.py:152, entrypoints/common/startup.py:38 and :96 at 0.33.0, and
model_executor/models/qwen3_next.py:158 at 0.25.0.
"""

import re
from dataclasses import dataclass
from typing import Final

from fse_core.doctor.log.line import Line

VARIABLE: Final = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
NO_REASON: Final = "shared expert has a different quantization spec than routed experts"
"""What Qwen3-Next says from 0.25.0 to 0.28.0, where it names no layer."""
_ENABLED: Final = f"{VARIABLE} is enabled but "
_CANNOT: Final = re.compile(r"cannot be enabled(?: - skipping for this layer)?: ")
_DECLINED: Final = re.compile(rf"{VARIABLE} is ignored for [^:]+: (?P<why>.*)")
_DECLINED_END: Final = ". AITER has tuned configs"
_PLATFORM: Final = re.compile(rf"{VARIABLE} is enabled, which requires ")
_PLUGIN: Final = re.compile(r"FSE: (?P<fused>\d{1,5}) of (?P<all>\d{1,5}) MoE layers fused")
_QUANTIZED: Final = re.compile(r"Quantized \d{1,6} layers of types: ")
_ARGUMENTS: Final = re.compile(r"non-default args: (\{.*)")
_VERSION: Final = re.compile(r"█  version (\S+)|LLM (?:API )?server version ([\w.+-]+)|LLM engine \(v([\w.+-]+)\)")
_MODEL: Final = re.compile(r"█  model   (\S.*)|serving model (\S+)|with config: model='([^']+)'")
_LOADED: Final = re.compile(r"Loading weights took|Model loading took")
_SERVES: Final = "Starting vLLM"
_BUILT: Final = re.compile(r"Using .*MoE backend")


@dataclass(frozen=True, kw_only=True)
class Notice:
    """kind: refused, declined, platform, plugin, quantized (things that are counted), or arguments, version, model,
    built, loaded, serves. `cut` marks words whose end is missing.
    """

    kind: str
    text: str
    cut: bool = False


def notices(line: Line, *, whole: bool) -> list[Notice]:
    """Everything that the line says; `whole` tells whether its end was there."""
    for look in (_about_variable, _about_plugin):
        found = look(line.text, whole)
        if found is not None:
            return [found]
    patterns = {"arguments": _ARGUMENTS, "version": _VERSION, "model": _MODEL}
    matches = {kind: pattern.search(line.text) for kind, pattern in patterns.items()}
    said = [Notice(kind=kind, text=_first(match)) for kind, match in matches.items() if match is not None]
    stages = {"serves": _SERVES in line.text, "loaded": _LOADED.search(line.text), "built": _BUILT.search(line.text)}
    return said + [Notice(kind=kind, text="") for kind, there in stages.items() if there]


def _first(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip()


def _about_variable(text: str, whole: bool) -> Notice | None:
    at = text.find(_ENABLED)
    if at >= 0:
        return _refused(text[at + len(_ENABLED) :], whole)
    match = _DECLINED.search(text)
    if match is not None:
        reasons, end, _ = match["why"].partition(_DECLINED_END)
        return Notice(kind="declined", text=reasons, cut=not end)
    platform = _PLATFORM.search(text)
    return None if platform is None else Notice(kind="platform", text=text[platform.start() :])


def _refused(words: str, whole: bool) -> Notice | None:
    """The gate's reason, without the full stop that the warning puts behind it."""
    if words.startswith(NO_REASON):
        return Notice(kind="refused", text=NO_REASON)
    match = _CANNOT.match(words)
    if match is None:
        return None if whole else Notice(kind="refused", text="", cut=True)
    reason = words[match.end() :]
    ended = reason.endswith(".")
    return Notice(kind="refused", text=reason[:-1] if ended else reason, cut=not ended)


def _about_plugin(text: str, whole: bool) -> Notice | None:
    plugin = _PLUGIN.search(text)
    if plugin is not None:
        return Notice(kind="plugin", text=text[plugin.start() :], cut=not whole)
    quantized = _QUANTIZED.search(text)
    return None if quantized is None else Notice(kind="quantized", text=text[quantized.start() :], cut=not whole)


def stated(text: str) -> tuple[int, int]:
    """How many layers the plugin says it found fused, and of how many."""
    match = _PLUGIN.match(text)
    return (int(match["fused"]), int(match["all"])) if match is not None else (0, 0)
