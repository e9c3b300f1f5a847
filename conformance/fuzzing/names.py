"""What people write into exclude lists and patterns: names of a layer's modules, as they are, cut, or mistaken."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.fuzzing.draw import Draw

SHARDS = ("gate_proj", "up_proj", "down_proj")
PACKED = ("gate_up_proj", "down_proj")
W_SHARDS = ("w1", "w3", "w2")

DIALECTS: dict[str, tuple[str, str]] = {
    "module": ("", ""),
    "no model": ("model.", ""),
    "no language model": ("language_model.", ""),
    "language model inside": ("language_model.model.", "model.language_model."),
    "language model without model": ("language_model.model.", "language_model."),
    "model first": ("language_model.model.", "model."),
    "layers first": ("language_model.model.", ""),
    "mistral": ("model.layers.", "layers."),
    "language": ("language.", "language_model."),
}
"""How checkpoints write the module names that the release uses: which start becomes which."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A layer with shared experts: the release's prefixes, as a quantization block may be about them."""

    experts: str
    shared: str

    @property
    def parent(self) -> str:
        return self.experts.rpartition(".")[0]


class Names:
    """Entries about the sites of one model, written in one dialect."""

    def __init__(self, draw: Draw, sites: Sequence[Site]) -> None:
        self.draw = draw
        self.sites = list(sites)
        fitting = [d for d, (start, _) in DIALECTS.items() if all(s.experts.startswith(start) for s in sites)]
        self.old, self.new = DIALECTS[draw.weighted({d: 4.0 if d == "module" else 1.0 for d in fitting})]
        self.shards = W_SHARDS if sites and ".ffn." in sites[0].experts and draw.chance(0.6) else SHARDS

    def written(self, name: str) -> str:
        return name.replace(self.old, self.new, 1) if self.old else name

    def shared(self, site: Site, leaves: Sequence[str]) -> list[str]:
        return [self.written(f"{site.shared}.{leaf}") for leaf in leaves]

    def routed(self, site: Site) -> list[str]:
        """The routed experts as one module, as one tensor's, or as several tensors'."""
        inner = [f"{site.experts}.{self.draw.one((0, 1, 7))}.{leaf}" for leaf in self.draw.some(SHARDS)]
        return [self.written(name) for name in self.draw.one(([site.experts], inner[:1], inner))]

    def entries(self) -> list[str]:
        """Entries for an exclude list: for some layers or for all, of one kind or two."""
        chosen = self.sites if self.draw.chance(0.5) else self.draw.some(self.sites)
        kinds = self.draw.some(list(self._kinds()), 1)[: self.draw.one((1, 1, 2))]
        entries = [entry for site in chosen for kind in kinds for entry in kind(site)]
        return self.draw.mixed(list(dict.fromkeys(entries))) if self.draw.chance(0.3) else list(dict.fromkeys(entries))

    def _kinds(self) -> tuple[Callable[[Site], list[str]], ...]:
        kinds: list[Callable[[Site], list[str]]] = [
            lambda site: self.shared(site, self.shards),
            lambda site: self.shared(site, PACKED),
            lambda site: self.shared(site, self.shards[2:]),
            lambda site: self.shared(site, self.shards[:2]),
            lambda site: self.shared(site, self.shards[:1]),
            lambda site: self.shared(site, self.shards[1:]),
            lambda site: self.shared(site, self.draw.one((self.shards[:1], self.shards[1:]))),
            lambda site: self.shared(site, PACKED[:1]),
            self.routed,
            lambda site: [*self.routed(site), *self.shared(site, self.shards)],
            lambda site: [*self.routed(site), *self.shared(site, PACKED)],
            lambda site: [self.written(site.shared)],
            lambda site: [self.written(site.parent)],
            lambda site: [f"{self.written(site.shared)}.*"],
            lambda site: [f"{self.written(site.parent)}*"],
            lambda site: [f"re:{re.escape(self.written(site.shared))}.*"],
            self._loose,
        ]
        return tuple(self.draw.mixed(kinds))

    def _loose(self, site: Site) -> list[str]:
        """Entries that name no single layer."""
        shared, leaf = site.shared.rpartition(".")[2], self.draw.one(SHARDS)
        return [self.draw.one((
            shared, f"*{shared}*", f"*{shared}.*", f"re:.*{shared}.*", f"re:{shared}", f"*{shared}.{leaf}", leaf,
            f"*{leaf}", f"re:.*{leaf}$", "experts", "*experts*", "*mlp.experts*", "*.experts.*", "lm_head", "*",
            "re:.*mlp.experts.*", f"re:.*[.]{shared}[.](gate|up)_proj", "mtp*", "model.embed_tokens",
        ))]  # fmt: skip

    def pattern(self) -> str:
        """A key for a pattern map, which mostly means several layers."""
        site = self.draw.one(self.sites)
        shared, leaf = site.shared.rpartition(".")[2], self.draw.one((*SHARDS, *PACKED))
        return self.draw.one((
            f"*{shared}*", f"*{shared}.*", f"*.{shared}.{leaf}", f"*{leaf}", "*experts*", "*.experts*", "*mlp.experts*",
            "*.experts.*", f"re:.*{shared}.*", "*", self.written(site.experts), f"{self.written(site.shared)}.{leaf}",
            f"{self.written(site.parent)}.*", f"{self.written(site.experts)}.0.gate_proj", "*self_attn*",
            self.written(site.shared), f"{self.written(site.parent)[:-1]}?.*",
        ))  # fmt: skip
