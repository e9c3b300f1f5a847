"""Notes what the release decides, where it decides it: the gate's answers, the experts it builds, and what it logs."""

import logging
import sys
from collections import Counter
from typing import Any

GATE = "is_shared_expert_quant_fse_compatible"
ABOUT_FUSION = "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"


class Watch(logging.Handler):
    """What was seen so far. `part` is the model that is being built."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.part = "target"
        self.decisions: list[dict[str, Any]] = []
        self.experts: list[dict[str, Any]] = []
        self.warnings: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if ABOUT_FUSION in message:
            self.warnings[message] += 1

    def install(self) -> None:
        """Take over the release's log, its gate (wherever that has been imported to), and its expert containers."""
        self.take_log()
        self._wrap_gate()
        self._wrap_experts()

    def take_log(self) -> None:
        """Hear all warnings, and let nothing be printed. The release sets its log up anew with each engine config."""
        release = logging.getLogger("vllm")
        release.handlers, release.propagate = [self], False
        release.setLevel(logging.WARNING)
        logging.disable(logging.INFO)

    def _wrap_gate(self) -> None:
        try:
            from vllm.model_executor.layers.quantization.utils import config_utils
        except ImportError:  # there is no gate before 0.29.0
            return
        real = getattr(config_utils, GATE)

        def watched(quant_config: Any, experts: str, shared: str, *args: Any, **kwargs: Any) -> Any:
            entry: dict[str, Any] = {
                "part": self.part,
                "experts": experts,
                "shared": shared,
                "config": None if quant_config is None else type(quant_config).__name__,
                "compatible": None,
                "reason": None,
                "error": None,
            }
            self.decisions.append(entry)
            try:
                entry["compatible"], entry["reason"] = real(quant_config, experts, shared, *args, **kwargs)
            except Exception as error:
                entry["error"] = {"type": type(error).__name__, "message": str(error)}
                raise
            return entry["compatible"], entry["reason"]

        for name, module in list(sys.modules.items()):
            if name.startswith("vllm") and vars(module).get(GATE) is real:
                setattr(module, GATE, watched)

    def _wrap_experts(self) -> None:
        try:
            from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts
        except ImportError:
            self._wrap_layers()
            return
        real = RoutedExperts.__init__

        def watched(layer: Any, layer_name: str, *args: Any, **kwargs: Any) -> None:
            slots = kwargs["expert_map_manager"].num_fused_shared_experts
            entry = {"part": self.part, "module": layer_name, "slots": slots, "method": None}
            self.experts.append(entry)
            real(layer, layer_name, *args, **kwargs)
            entry["method"] = type(layer.quant_method).__name__

        RoutedExperts.__init__ = watched

    def _wrap_layers(self) -> None:
        """Until 0.23.0 one class is the layer and holds its experts."""
        from vllm.model_executor.layers.fused_moe.layer import FusedMoE

        real = FusedMoE.__init__

        def watched(layer: Any, *args: Any, **kwargs: Any) -> None:
            real(layer, *args, **kwargs)
            slots, method = layer.num_fused_shared_experts, type(layer.quant_method).__name__
            self.experts.append({"part": self.part, "module": layer.layer_name, "slots": slots, "method": method})

        FusedMoE.__init__ = watched
