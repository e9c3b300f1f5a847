import pytest

from fse_core.plugged.options import ACCEPT, FUSION, ONLINE, PLUGIN, read


@pytest.mark.parametrize(("value", "active"), [("1", True), ("True", True), ("0", False), ("yes", False), ("", False)])
def test_the_plugin_is_active_where_vllm_takes_the_variable_for_yes(value: str, active: bool) -> None:
    assert read({FUSION: value}).active is active


def test_nothing_is_asked_where_the_variable_is_not_set() -> None:
    assert not read({}).active


@pytest.mark.parametrize("value", ["off", "OFF", "0", "false", "no"])
def test_one_variable_switches_all_off(value: str) -> None:
    assert not read({FUSION: "1", PLUGIN: value}).active


def test_formats_and_kinds_are_lists() -> None:
    options = read({FUSION: "1", ONLINE: "mxfp4, mxfp8", ACCEPT: "quark-excluded compressed-tensors"})
    assert options.online == {"mxfp4", "mxfp8"}
    assert options.accept == {"quark-excluded", "compressed-tensors"}
    assert options.unknown == ()


def test_off_asks_for_no_format() -> None:
    assert read({FUSION: "1", ONLINE: "off"}).online == frozenset()


def test_a_value_that_means_nothing_is_told_and_ignored() -> None:
    options = read({FUSION: "1", ONLINE: "mxfp4,mxfp6", ACCEPT: "all"})
    assert options.online == {"mxfp4"}
    assert options.accept == frozenset()
    assert options.unknown == (
        "FSE_ONLINE_SHARED_EXPERTS: mxfp6 is not one of mxfp4, mxfp8, fp8_block, and is ignored",
        "FSE_ACCEPT: all is not one of compressed-tensors, quark-excluded, lossy, and is ignored",
    )
