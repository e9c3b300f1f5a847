"""The command that serves is found through what stands around it, and what it sees of the environment is told."""

import time

import pytest

from fse_core.doctor import command
from fse_core.doctor.docker import version_of
from fse_core.errors import InputError


def test_variables_before_the_command_are_its_own() -> None:
    found = command.from_text("VLLM_ROCM_USE_AITER=1 FOO='a b' numactl -N 0 vllm serve org/m -tp 8")
    assert found.arguments == ("org/m", "-tp", "8")
    assert found.variables == {"VLLM_ROCM_USE_AITER": "1", "FOO": "a b"}
    assert found.serve
    assert not found.inside


@pytest.mark.parametrize("python", ["python", "/usr/bin/python3", "exec python3 -u", "env A=1 python3.12"])
def test_the_module_is_a_command_too(python: str) -> None:
    found = command.from_text(f"{python} -m vllm.entrypoints.openai.api_server --model org/m")
    assert found.arguments == ("--model", "org/m")
    assert not found.serve


def test_a_container_sees_what_it_is_given_and_no_more() -> None:
    found = command.from_text(
        "export HF_TOKEN=secret\nexport OTHER=1\n"
        "docker run -it --rm --ipc=host -p8000:8000 -v ~/x:/x -eA=1 -e B=2 --env=C=3 --env D -e HF_TOKEN "
        "--group-add video --name=x vllm/vllm-openai-rocm:v0.27.1 org/m -tp 8"
    )
    assert found.arguments == ("org/m", "-tp", "8")
    assert found.variables == {"A": "1", "B": "2", "C": "3", "HF_TOKEN": "secret"}
    assert found.passed == ("D",)
    assert found.inside
    assert found.serve
    assert found.version == "0.27.1"


@pytest.mark.parametrize(
    "line",
    [
        "docker run rocm/vllm:latest vllm serve org/m -tp 8",
        "sudo docker run --gpus all rocm/vllm bash -lc 'vllm serve org/m -tp 8'",
        "podman run -d --entrypoint vllm vllm/vllm-openai-rocm serve org/m -tp 8",
        'docker container run --entrypoint=/bin/bash vllm/vllm-openai-rocm -c "vllm serve org/m -tp 8"',
        "docker run vllm/vllm-openai-rocm@sha256:0123 org/m -tp 8",
    ],
)
def test_entry_points_and_shells_in_a_container(line: str) -> None:
    assert command.from_text(line).arguments == ("org/m", "-tp", "8")


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("vllm/vllm-openai-rocm:v0.31.0", "0.31.0"),
        ("docker.io/vllm/vllm-openai-rocm:v0.31.0-base", "0.31.0"),
        ("rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210", "0.11.2"),
        ("rocm/vllm:rocm7.12.0_gfx950-dcgpu_ubuntu24.04_py3.12_pytorch_2.9.1_vllm_0.16.0", "0.16.0"),
        ("vllm/vllm-openai-rocm:nightly", None),
        ("vllm/vllm-openai-rocm", None),
        ("rocm/pytorch:rocm7.0.0", None),
    ],
)
def test_the_release_in_an_images_name(image: str, version: str | None) -> None:
    assert version_of(image) == version


def test_a_variable_that_is_not_exported_is_told_of() -> None:
    found = command.from_text("VLLM_ROCM_USE_AITER=1\nvllm serve org/m")
    assert [problem.message for problem in found.problems] == [
        "VLLM_ROCM_USE_AITER is set in the shell and not exported: vLLM does not see it"
    ]
    assert not command.from_text("export VLLM_ROCM_USE_AITER=1\nvllm serve org/m").problems


def test_a_file_of_variables_is_told_of() -> None:
    found = command.from_text("docker run --env-file x.env vllm/vllm-openai-rocm org/m")
    assert [problem.severity for problem in found.problems] == ["warning", "info"]
    assert "image itself" in found.problems[1].message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls",
        "vllm bench serve",
        "docker run rocm/vllm:latest",
        "docker run --rm",
        "docker run vllm/vllm-openai-rocm",
    ],
)
def test_what_serves_nothing_is_an_error(text: str) -> None:
    with pytest.raises(InputError):
        command.from_text(text)


def test_words_are_a_command_where_they_are_more_than_a_name() -> None:
    assert not command.is_command(["org/m"])
    assert command.is_command(["vllm serve org/m"])
    assert command.is_command(["vllm", "serve", "org/m"])
    assert command.from_words(["A=1", "vllm", "serve", "org/m"]).variables == {"A": "1"}


A = "VLLM_ROCM_USE_AITER"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("export {A}=1; unset {A}; vllm serve m", None),
        ("export {A}=1; unset -v {A}; vllm serve m", None),
        ("export {A}=1; unset -f {A}; vllm serve m", "1"),
        ("export {A}=1; env -u {A} vllm serve m", None),
        ("export {A}=1; env --unset={A} vllm serve m", None),
        ("export {A}=1; env -i PATH=$PATH vllm serve m", None),
        ("export {A}=1; env -i {A}=2 vllm serve m", "2"),
        ("export {A}=1; export -n {A}; vllm serve m", None),
        ("export {A}=1; bash -c '{A}=0; vllm serve m'", "0"),
        ("{A}=1 bash -c 'unset {A}; vllm serve m'", None),
        ("export {A}=1; env -u {A} bash -c 'vllm serve m'", None),
        ("export {A}=1; bash -c \"env -u {A} sh -c 'vllm serve m'\"", None),
        ("set -a; {A}=1; set +a; vllm serve m", "1"),
        ("set -o allexport\n{A}=1\nset +o allexport\nB=1\nvllm serve m", "1"),
        ("(export {A}=1); vllm serve m", None),
        ("declare -x {A}=1; vllm serve m", "1"),
        ("declare {A}=1; vllm serve m", None),
        ("export {A}=1; docker run -e {A} vllm/vllm-openai-rocm m", "1"),
        ("export {A}=1; unset {A}; docker run -e {A} vllm/vllm-openai-rocm m", None),
        ("docker run -e {A}=1 vllm/vllm-openai-rocm m", "1"),
        ("docker run -e {A}=1 --entrypoint bash x -c 'unset {A}; vllm serve m'", None),
    ],
)
@pytest.mark.parametrize("outside", [False, True])
def test_what_vllm_sees_of_a_variable(text: str, value: str | None, outside: bool) -> None:
    """`outside`: whether the script itself is started with the variable exported."""
    found = command.from_text(text.format(A=A), (A,) if outside else ())
    assert found.variables.get(A) == value or (outside and text.startswith("declare {A}"))
    if value is None and "export {A}=1" in text and "(" not in text:
        assert A in found.removed or found.inside
    if value is not None:
        assert not found.problems or found.inside


def test_an_assignment_to_what_was_exported_outside_is_seen() -> None:
    for text in (f"{A}=0; vllm serve m", f"bash -c '{A}=0; vllm serve m'"):
        assert command.from_text(text, (A,)).variables == {A: "0"}
        assert command.from_text(text).variables == {}


@pytest.mark.parametrize(
    "text",
    ["echo vllm serve no; vllm serve m", "cat <<E\nvllm serve no\nE\nvllm serve m", "( vllm serve m )",
     "docker run redis; vllm serve m", "python -m vllm.entrypoints.cli.main serve m", "if x; then vllm serve m; fi"],
)  # fmt: skip
def test_the_command_itself_is_found(text: str) -> None:
    found = command.from_text(text)
    assert (found.arguments, found.serve, found.problems) == (("m",), True, ())


def test_several_commands_are_told_of() -> None:
    found = command.from_text("vllm serve a\nvllm serve b")
    assert found.arguments == ("a",)
    assert "2 commands" in found.problems[0].message


@pytest.mark.parametrize(
    "text",
    ["docker run a " * 2000 + "vllm serve m", "vllm serve m " + "-tp 8 " * 150_000, "-tp 8 " * 150_000, '"' * 400_000,
     "$" * 400_000, "\\a" * 400_000, '"' + "\\a" * 400_000, "bash " * 150_000, "env " * 200_000, "(a)" * 100_000],
    ids=range(10),
)  # fmt: skip
def test_long_and_deep_texts_are_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError):
        command.from_text(text)
    assert time.process_time() - began < 5
