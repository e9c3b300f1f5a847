"""Replacing functions of a package: those that are known, and no others."""

import logging
import sys
from typing import Any

import pytest

from fse_core.vllm_plugin import patches
from fse_core.vllm_plugin.installed import Installed
from fse_core.vllm_plugin.patch import Function
from tests.vllm_plugin.conftest import Package, known, load, patch

FILES = {
    "place.py": "def gate(config, name=None):\n    return 'theirs'\n",
    "user.py": "from vllm.place import gate\n",
    "ops.py": "class Ops:\n    @classmethod\n    def enabled(cls):\n        return True\n",
}


def ours(original: Function) -> Function:
    def replaced(*args: Any, **kwargs: Any) -> Any:
        return ("ours", original(*args, **kwargs))

    return replaced


def test_a_function_is_replaced_before_anybody_takes_it_by_name(vllm: Package, installed: Installed) -> None:
    package = vllm(FILES)
    load("vllm")
    installed.add(patch("vllm.place", "gate", known(package, "place.py", "gate", "config, name=None"), ours))
    assert installed.states == {"gate": "waiting"}
    assert load("vllm.user").gate(1) == ("ours", "theirs")
    assert installed.active("gate")


def test_a_function_that_others_have_taken_by_name_is_replaced_there_too(vllm: Package, installed: Installed) -> None:
    package = vllm(FILES)
    user, place = load("vllm.user"), load("vllm.place")
    original = place.gate
    installed.add(patch("vllm.place", "gate", known(package, "place.py", "gate", "config, name=None"), ours))
    assert user.gate(1) == place.gate(1) == ("ours", "theirs")
    installed.restore()
    assert user.gate is place.gate is original


def test_a_class_method_stays_one(vllm: Package, installed: Installed) -> None:
    package = vllm(FILES)
    load("vllm")
    installed.add(patch("vllm.ops", "Ops.enabled", known(package, "ops.py", "Ops.enabled", "cls"), ours))
    ops = load("vllm.ops")
    assert ops.Ops.enabled() == ("ours", True)
    installed.restore()
    assert ops.Ops.enabled() is True


def test_adding_a_patch_again_changes_nothing(vllm: Package, installed: Installed) -> None:
    package = vllm(FILES)
    place = load("vllm.place")
    gate = patch("vllm.place", "gate", known(package, "place.py", "gate", "config, name=None"), ours)
    installed.add(gate)
    replacement = place.gate
    installed.add(gate)
    assert place.gate is replacement
    assert place.gate(1) == ("ours", "theirs")


def test_a_changed_text_is_left_untouched_and_said_in_one_line(
    vllm: Package, installed: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    package = vllm(FILES)
    texts = known(package, "place.py", "gate", "config, name=None")
    vllm({"place.py": FILES["place.py"].replace("'theirs'", "'altered'")})
    load("vllm")
    installed.add(patch("vllm.place", "gate", texts, ours))
    with caplog.at_level(logging.INFO, "vllm.fse"):
        place = load("vllm.place")
    assert place.gate(1) == "altered"
    assert installed.states == {"gate": "untouched"}
    assert caplog.messages == ["FSE: vllm.place.gate is left untouched: its text is not one that is known"]


def test_what_somebody_else_has_replaced_is_left_untouched(
    vllm: Package, installed: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    package = vllm(FILES)
    place: Any = load("vllm.place")
    place.gate = theirs = lambda *args: "another plugin's"
    installed.add(patch("vllm.place", "gate", known(package, "place.py", "gate", "config, name=None"), ours))
    assert place.gate is theirs
    assert caplog.messages == [
        "FSE: vllm.place.gate is left untouched: it takes (*args), not (config, name=None): something else has "
        "replaced it"
    ]


def test_a_function_that_is_not_there_is_said(
    vllm: Package, installed: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    vllm(FILES)
    load("vllm.place")
    installed.add(patch("vllm.place", "absent", {"0": ""}, ours))
    assert caplog.messages == ["FSE: vllm.place.absent is left untouched: it is not there"]


def test_an_import_that_fails_fails_as_it_would(vllm: Package, installed: Installed) -> None:
    vllm({"broken.py": "raise ImportError('theirs')\n"})
    load("vllm")
    installed.add(patch("vllm.broken", "gate", {"0": ""}, ours))
    with pytest.raises(ImportError, match="theirs"):
        load("vllm.broken")
    with pytest.raises(ModuleNotFoundError):
        load("vllm.nowhere")


def test_nothing_is_left_behind_once_all_is_restored(vllm: Package, installed: Installed) -> None:
    vllm(FILES)
    load("vllm")
    finders = list(sys.meta_path)
    installed.add(patch("vllm.place", "gate", {"0": ""}, ours))
    assert sys.meta_path != finders
    installed.restore()
    assert sys.meta_path == finders
    assert load("vllm.place").gate(1) == "theirs"


def test_each_patch_names_its_releases_and_what_it_knows_of_them() -> None:
    found = {one.name: one for one in patches.known()}
    assert {name for name, one in found.items() if one.belongs_to("0.24.0")} == {
        "aiter_fusion_enabled",
        "expert_weight_loader",
        "initialize_model",
    }
    assert {name for name, one in found.items() if one.belongs_to("0.33.0")} == {
        "expert_weight_loader",
        "gate",
        "initialize_model",
    }
    assert all(len(digest) == 16 for one in found.values() for digest in one.known)
