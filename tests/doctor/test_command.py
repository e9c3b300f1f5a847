"""The command that serves is found through what stands around it, and what it sees of the environment is told."""

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
