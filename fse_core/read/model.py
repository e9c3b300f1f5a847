"""The facts of one model, as its files state them: nothing here knows a family or a quantization class."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fse_core.errors import InputError
from fse_core.read.getters import Fields
from fse_core.report import Source

if TYPE_CHECKING:
    from fse_core.read.safetensors.facts import Headers

CONFIG_FILE: Final = "config.json"
HF_QUANT_FILE: Final = "hf_quant_config.json"

TEXT_KEYS = ("text_config", "language_config", "llm_config")
"""Where a multimodal config keeps its language model, in the order of preference."""


@dataclass(frozen=True, kw_only=True)
class QuantizationBlock:
    """The dict that describes the checkpoint's quantization, and the file that it came from.

    `in_text` tells a block that stands in the language model's config, `compression` one under compression_config.
    """

    fields: Fields
    file: str = CONFIG_FILE
    in_text: bool = False
    compression: bool = False


@dataclass(frozen=True, kw_only=True)
class Document:
    """A file as it was read. `file` is where it is to be found, `name` what the paths of its values begin with."""

    file: str
    name: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Model:
    """config.json (and hf_quant_config.json) of one model. `documents` are what was read, where a file was.

    `headers` are those of its safetensors files, None where they were not asked for.
    """

    source: Source
    config: Fields
    hf_quant_config: Fields | None = None
    documents: tuple[Document, ...] = field(default=(), repr=False, compare=False)
    headers: "Headers | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def text(self) -> Fields:
        """The language model's config: a nested one where there is one, else the whole."""
        for key in TEXT_KEYS:
            if self.config.get(key) is not None:
                return self.config.object(key)
        return self.config

    @cached_property
    def architecture(self) -> str | None:
        """The first entry of `architectures`, which is what vLLM builds."""
        names = self.config.strings("architectures", [])
        return names[0] if names else None

    @cached_property
    def model_type(self) -> str | None:
        return self.config.optional_string("model_type")

    @cached_property
    def quantization(self) -> QuantizationBlock | None:
        """The block that vLLM reads, by its precedence.

        Source: vllm/transformers_utils/config.py:951 and model_executor/model_loader/weight_utils.py:239 at 0.33.0.
        """
        if self.config.get("quantization_config") is not None:
            return QuantizationBlock(fields=self.config.object("quantization_config"))
        if self.hf_quant_config is not None:
            return QuantizationBlock(fields=self.hf_quant_config, file=HF_QUANT_FILE)
        # A language_config or llm_config becomes the config object's text_config: configs/deepseek_vl2.py:114 and
        # config.py:195.
        if self.text is not self.config and self.text.get("quantization_config") is not None:
            return QuantizationBlock(fields=self.text.object("quantization_config"), in_text=True)
        self._refuse_unread()
        if self.config.get("compression_config") is not None:
            return QuantizationBlock(fields=self.config.object("compression_config"), compression=True)
        return None

    def _refuse_unread(self) -> None:
        """A compression_config in the text config gives vLLM a method, and then it does not find the block.

        Source: vllm/transformers_utils/model_arch_config_convertor.py:285 at 0.33.0.
        """
        if self.text is self.config or self.text.get("compression_config") is None:
            return
        if self.text.get("quantization_config") is None and self.config.get("compression_config") is None:
            raise InputError(
                self.text.at("compression_config"),
                "expected this block at the top level: here vLLM finds its method and then not the block",
            )

    def require_architecture(self) -> str:
        if self.architecture is None:
            raise InputError("architectures", "expected a list with the model class's name, got nothing")
        return self.architecture
