"""Options become the target that they mean, and what is wrong with them is said."""

from collections.abc import Mapping
from typing import Any

import pytest

from fse_core.doctor import command
from fse_core.doctor.served import Served, logged, served
from fse_core.errors import InputError
from fse_core.target import Target

LATEST = Target(vllm="0.33.0", gfx="gfx950")


def serve(line: str, vllm: str = "0.33.0", **files: str) -> Served:
    def load(name: str) -> str:
        if name not in files:
            raise InputError("--config", f"cannot read {name}")
        return files[name]

    return served(command.from_text(f"vllm serve {line}"), Target(vllm=vllm, gfx="gfx950"), load)


def messages(found: Served, severity: str = "error") -> list[str]:
    return [problem.message for problem in found.launch.problems if problem.severity == severity]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("m -tp 8 -pp 2 -dp 4 -pcp 2 -ep", {"tp": 8, "pp": 2, "dp": 4, "pcp": 2, "ep": True}),
        ("m --tensor_parallel_size=8 --no-enable-expert-parallel", {"tp": 8, "ep": False}),
        ("m --enable-eplb --enable-dbo --moe-backend AITER", {"eplb": True, "dbo": True, "moe_backend": "aiter"}),
        ("m --kernel-config.moe_backend triton", {"moe_backend": "triton"}),
        ("m --all2all-backend mori_low_latency", {"all2all_backend": "mori_low_latency"}),
        ('m --quantization-config.targets \'{"*": "mxfp4"}\'', {"overlay": {"targets": {"*": "mxfp4"}}}),
        ("m", {"draft": False, "tp": 1, "overlay": None}),
        ('m --speculative-config \'{"method": "deepseek_mtp"}\'', {"draft": True}),
        ("m --speculative-config.method mtp", {"draft": True}),
        ("m --speculative-config.method ngram", {"draft": False}),
        ("m --spec-method mtp", {"draft": True}),
        ("m --quantization-config None --moe-backend auto", {"overlay": None, "moe_backend": "auto"}),
    ],
)
def test_options_make_the_target(line: str, fields: Mapping[str, Any]) -> None:
    found = serve(line)
    assert found.launch.problems == ()
    assert {name: getattr(found.target, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("m --foo 1", "unrecognized arguments: --foo 1"),
        ("m more", "unrecognized arguments: more"),
        ("m -tp", "expected one argument"),
        ("m -tp eight", "--tensor-parallel-size: expected a number from 1"),
        ("m -tp 65537", "--tensor-parallel-size: expected a number from 1 to 65536, got '65537'"),
        ("m -tp " + "9" * 30, "--tensor-parallel-size: expected a number from 1 to 65536, got '" + "9" * 30),
        ("m -tp " + "9" * 5000, "--tensor-parallel-size: expected a number from 1 to 65536, got '" + "9" * 40 + "...'"),
        ("m -tp 8.0", "--tensor-parallel-size: expected a number from 1 to 65536, got '8.0'"),
        ("m -tp -1", "--tensor-parallel-size: expected a number from 1"),
        ("m -tp=", "--tensor-parallel-size: expected a number from 1 to 65536, got ''"),
        ("m -tp ''", "--tensor-parallel-size: expected a number from 1 to 65536, got ''"),
        ("m -tp None", "--tensor-parallel-size: expected a number from 1 to 65536, got 'None'"),
        ("m -dp 100000", "--data-parallel-size: expected a number from 1 to 65536"),
        ("m -pp x", "--pipeline-parallel-size: expected a number from 1 to 65536"),
        (
            "m -O.level=3",
            "--optimization-level: expected 0, 1, 2 or 3, got '.level=3'; -O.level=3 is written -cc.level=3",
        ),
        ("m -O.level 3", "unrecognized arguments: 3"),
        ("m -O4", "--optimization-level: expected 0, 1, 2 or 3, got '4'"),
        ("--served-model-name x", "ValueError: `model` should be provided as the first positional argument"),
        ("m -tp 0", "--tensor-parallel-size: expected a number from 1"),
        ("m --quantization-config {", "--quantization-config: is no JSON"),
        ("m --hf-overrides '[1]'", "--hf-overrides: expected a JSON object"),
        ("m --moe-backend nothing", "--moe-backend: expected one of"),
        ("m --data-parallel 2", "ambiguous option"),
        ("m --config x.json", "has to end with .yaml or .yml"),
        ("m --config none.yaml", "cannot read none.yaml"),
        ("m --config bad.yaml", "line 1 "),
    ],
)
def test_what_the_release_would_end_with_is_said(line: str, words: str) -> None:
    found = serve(line, **{"bad.yaml": "a: &x"})
    assert any(words in message for message in messages(found)), found.launch.problems


def test_an_option_of_another_release_is_not_taken() -> None:
    assert messages(serve("m --quantization-config '{}'", "0.19.0")) == [
        "vLLM 0.19.0 ends with: unrecognized arguments: --quantization-config {}"
    ]


def test_a_config_file_is_read_and_the_line_wins() -> None:
    text = "model: of/file\ntensor-parallel-size: 4\nenable_expert_parallel: true\nspeculative-config:\n  method: mtp\n"
    found = serve("--config x.yaml -tp 8", **{"x.yaml": text})
    assert (found.launch.model, found.target.tp, found.target.ep, found.target.draft) == ("of/file", 8, True, True)


def test_a_config_file_in_one_word_is_warned_of() -> None:
    assert "write --config FILE" in messages(serve("m --config=x.yaml"), "warning")[0]


def test_what_leads_elsewhere_is_not_judged() -> None:
    assert serve("m --model-impl transformers").unjudged is not None
    long = "9" * 400
    assert serve(f"m --hf-overrides.swiglu_limit {long}").unjudged == (
        "--hf-overrides: swiglu_limit: expected an integer of at most 100 digits"
    )
    assert "eagle3" in messages(serve("m --speculative-config.method eagle3"), "info")[0]


def test_every_option_is_shown_and_those_that_bear_on_fusion_are_marked() -> None:
    shown = {option.name: (option.value, option.bears) for option in serve("m -tp 8 --port 8000").launch.options}
    assert shown == {"tensor_parallel_size": ("8", True), "port": ("8000", False)}


def test_the_module_has_a_model_of_its_own() -> None:
    alone = command.from_text("python -m vllm.entrypoints.openai.api_server -tp 2")
    assert served(alone, LATEST).launch.model == "Qwen/Qwen3-0.6B"


def test_the_arguments_of_a_log() -> None:
    text = (
        "{'model_tag': 'org/m', 'model': 'org/m', 'tensor_parallel_size': 8, 'speculative_config': {'method': 'mtp'}}"
    )
    found = logged(text, LATEST)
    assert found is not None
    assert (found.launch.model, found.target.tp, found.target.draft) == ("org/m", 8, True)
    for cut in (text[:40], "{", "[]", "{'a': 1}", "{" * 5000):
        assert logged(cut, LATEST) is None


def test_objects_in_the_arguments_of_a_log() -> None:
    overlay = "QuantizationConfigArgs(linear=None, moe=None, ignore=[], targets={'*shared_expert*': 'mxfp4'})"
    mode = "CompilationConfig(mode=<CompilationMode.NONE: 0>, splitting_ops=[])"
    found = logged(f"{{'model': 'm', 'quantization_config': {overlay}, 'compilation_config': {mode}}}", LATEST)
    assert found is not None
    assert found.target.overlay == {"targets": {"*shared_expert*": "mxfp4"}}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, value)
            for name in ("quantization_config", "speculative_config", "kernel_config")
            for value in (5, [1])
        ),
        ("hf_overrides", 5),
        ("quantization", 5),
        ("quantization", ["a"]),
        ("hf_config_path", 7),
        ("revision", 7),
        ("all2all_backend", ["a"]),
    ],
)
def test_a_log_with_a_value_of_another_kind_is_told_of(field: str, value: object) -> None:
    found = logged(f"{{'model': 'm', '{field}': {value!r}}}", LATEST)
    assert found is not None
    assert [message.partition(": expected ")[0] for message in messages(found)] == [f"--{field.replace('_', '-')}"]
    assert (found.quantization, found.config_path, found.target.overlay) == (None, None, None)


def test_a_log_with_a_list_for_a_key_is_not_read() -> None:
    assert logged("{'model': 'm', 'x': {[1]: 2}}", LATEST) is None


@pytest.mark.parametrize("words", ["-tp $TP", "-tp $(nproc)", "-tp `nproc`", "$ARGS", '"${ARGS[@]}"', '"$@"'])
def test_what_only_the_shell_knows_leaves_it_undecided(words: str) -> None:
    found = serve(f"m {words}")
    assert messages(found) == []
    assert found.launch.model == "m"
    assert found.unjudged is not None
    assert words.strip('"').removeprefix("-tp ") in found.unjudged


def test_what_the_shell_knows_of_other_options_is_no_matter() -> None:
    assert serve("m --port $PORT").unjudged is None
