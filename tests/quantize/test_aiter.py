"""aiter's kernel is used only where its answer to a known block is right. A module stands in for it here."""

import sys
import types
from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from fse_core.quantize import mxfp4_aiter
from fse_core.quantize.devices import say_once
from fse_core.quantize.mxfp4 import Mxfp4
from tests.quantize.weights import random, same

Result = tuple[torch.Tensor, torch.Tensor]


def right(weight: torch.Tensor) -> Result:
    payload, scale = Mxfp4().reference(weight)
    # As aiter returns it: the scales column by column.
    return payload, scale.t().contiguous().t()


def ties_away_from_zero(weight: torch.Tensor) -> Result:
    nudged = (weight.view(torch.int16) + (weight != 0).to(torch.int16)).view(torch.bfloat16)
    return Mxfp4().reference(nudged)


def drops_the_sign_of_zero(weight: torch.Tensor) -> Result:
    return Mxfp4(zero="positive").reference(weight)


def other_scales(weight: torch.Tensor) -> Result:
    payload, scale = right(weight)
    return payload, scale + 1


def fails(weight: torch.Tensor) -> Result:
    raise RuntimeError("no such architecture")


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    mxfp4_aiter.trusted.cache_clear()
    say_once.cache_clear()
    yield
    mxfp4_aiter.trusted.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, kernel: object) -> None:
    module = types.ModuleType(mxfp4_aiter.MODULE)
    module.dynamic_mxfp4_quant = kernel  # type: ignore[attr-defined]
    parts = mxfp4_aiter.MODULE.split(".")
    for count in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:count]), types.ModuleType(".".join(parts[:count])))
    monkeypatch.setitem(sys.modules, mxfp4_aiter.MODULE, module)


def test_the_known_answer_is_the_references() -> None:
    row = torch.zeros(1, 64, dtype=torch.bfloat16)
    row[0, :16] = torch.tensor(mxfp4_aiter.ELEMENTS, dtype=torch.bfloat16)
    payload, scale = Mxfp4().reference(row)
    assert bytes(payload[0].tolist()) == mxfp4_aiter.PAYLOAD
    assert scale[0].tolist() == [127, 0]


def test_a_right_kernel_is_trusted_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install(monkeypatch, right)
    with caplog.at_level("INFO", logger="fse_core.quantize.devices"):
        assert mxfp4_aiter.trusted("cpu") is right
        assert mxfp4_aiter.trusted("cpu") is right
    assert caplog.messages == ["mxfp4: quantizing with aiter's kernel, whose bytes for a known block are vLLM's"]


@pytest.mark.parametrize("kernel", [ties_away_from_zero, drops_the_sign_of_zero, other_scales])
def test_a_kernel_with_other_bytes_is_refused(
    kernel: object, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install(monkeypatch, kernel)
    with caplog.at_level("INFO", logger="fse_core.quantize.devices"):
        assert mxfp4_aiter.trusted("cpu") is None
    assert caplog.messages == [
        "mxfp4: aiter's kernel is not used: this version's bytes for a known block differ from vLLM's"
    ]


def test_a_kernel_that_fails_is_refused(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    install(monkeypatch, fails)
    with caplog.at_level("INFO", logger="fse_core.quantize.devices"):
        assert mxfp4_aiter.trusted("cpu") is None
    assert caplog.messages == ["mxfp4: aiter's kernel is not used: no such architecture"]


def test_without_aiter_nothing_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiter", None)
    assert mxfp4_aiter.trusted("cpu") is None


class OnRocm(torch.Tensor):
    """A tensor that says it is on a GPU; ROCm's torch calls that cuda."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device("cuda")


def test_it_writes_into_the_outputs_on_rocm_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxfp4_aiter, "trusted", lambda device: right)
    weight = random(8, 64)
    wanted = Mxfp4().quantize(weight)
    payload, scale = torch.zeros_like(wanted.payload), torch.zeros_like(wanted.scale)
    pretended = weight.as_subclass(OnRocm)
    assert not mxfp4_aiter.fill(pretended, payload, scale)
    monkeypatch.setattr(torch.version, "hip", "7.0")
    assert not mxfp4_aiter.fill(pretended.float(), payload, scale)
    assert not mxfp4_aiter.fill(weight, payload, scale)
    assert not payload.any()
    assert mxfp4_aiter.fill(pretended, payload, scale)
    assert same(type(wanted)(payload=payload, scale=scale), wanted)
