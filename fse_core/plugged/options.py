"""What the environment asks of the plugin."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"
PLUGIN = "FSE_PLUGIN"
ONLINE = "FSE_ONLINE_SHARED_EXPERTS"
ACCEPT = "FSE_ACCEPT"

FORMATS = ("mxfp4", "mxfp8", "fp8_block")
"""What full-precision shared experts can be quantized to while they load."""

ACCEPTABLE = ("compressed-tensors", "quark-excluded", "lossy")
"""Kinds of checkpoints that are stored alike, and that vLLM's gate refuses all the same; `lossy`: requantizing."""

_OFF = ("off", "0", "false", "no")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The variables, read once.

    active: whether fusion is asked for and the plugin is not switched off.
    online: formats that shared experts may be quantized to; accept: kinds that the gate need not refuse.
    unknown: values that mean nothing, as lines for the log.
    """

    active: bool
    online: frozenset[str] = frozenset()
    accept: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


def read(environ: Mapping[str, str]) -> Options:
    """The options. vLLM takes `1` and `true`, in any case, for yes (vllm/envs.py:1384 at 0.33.0)."""
    fusion = environ.get(FUSION, "").strip().lower() in ("1", "true")
    off = environ.get(PLUGIN, "").strip().lower() in _OFF
    online, accept = _words(environ.get(ONLINE, "")), _words(environ.get(ACCEPT, ""))
    unknown = (*_unknown(ONLINE, online, FORMATS), *_unknown(ACCEPT, accept, ACCEPTABLE))
    return Options(
        active=fusion and not off,
        online=online.intersection(FORMATS),
        accept=accept.intersection(ACCEPTABLE),
        unknown=unknown,
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in text.lower().replace(",", " ").split() if word not in _OFF)


def _unknown(variable: str, given: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    odd = sorted(set(given) - set(known))
    return (f"{variable}: {', '.join(odd)} is not one of {', '.join(known)}, and is ignored",) if odd else ()
