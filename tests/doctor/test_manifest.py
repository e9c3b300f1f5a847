"""Kubernetes manifests and Compose files: what their containers run, with which variables, and what is not seen."""

import re
from pathlib import Path

import pytest

from fse_core.doctor import command
from fse_core.errors import InputError

A = "VLLM_ROCM_USE_AITER"
ROOT = Path(__file__).resolve().parents[2]
POD = """\
# a comment
apiVersion: v1
kind: Pod
metadata:
  name: vllm
spec:
  initContainers:
  - name: first
    image: busybox
    command: [sh, -c, "echo vllm serve no"]
  containers:
  - name: vllm
    image: vllm/vllm-openai-rocm:v0.31.0
    args:
    - m
    - --tensor-parallel-size
    - "8"
    env:
    - name: VLLM_ROCM_USE_AITER
      value: "1"
    - {name: VLLM_ROCM_USE_AITER_MOE, valueFrom: {fieldRef: {fieldPath: a.b}}}
    - name: HF_TOKEN
      valueFrom:
        secretKeyRef: {name: hub, key: token}
"""


def test_a_pod() -> None:
    for text in (POD, f"---\napiVersion: v1\nkind: Service\n---\n{POD}"):
        found = command.from_text(text, (A, "VLLM_ROCM_USE_AITER_MOE"))
        assert found.arguments == ("m", "--tensor-parallel-size", "8")
        assert (found.serve, found.inside, found.version, found.passed) == (True, True, "0.31.0", ())
        assert found.variables == {A: "1"}
        assert [problem.message.partition(" is not")[0] for problem in found.problems[:-1]] == [
            "the value of VLLM_ROCM_USE_AITER_MOE"
        ]
        assert found.problems[-1].message.startswith("variables that the image itself sets are not seen")


def test_the_manifest_of_our_own_page() -> None:
    page = (ROOT / "docs" / "kubernetes.md").read_text()
    document = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0]
    found = command.from_text(document)
    assert found.arguments == ("amd/DeepSeek-R1-MXFP4", "--tensor-parallel-size", "8")
    assert found.variables[A] == found.variables[f"{A}_FUSION_SHARED_EXPERTS"] == "1"
    assert found.version == "0.31.0"


@pytest.mark.parametrize(
    ("container", "arguments", "value"),
    [
        ("image: rocm/vllm\ncommand: [vllm, serve]\nargs: [m]", ("m",), None),
        ("image: rocm/vllm\ncommand: [/bin/sh, -c]\nargs: ['VLLM_ROCM_USE_AITER=1 vllm serve m']", ("m",), "1"),
        (
            "image: rocm/vllm\ncommand:\n- bash\n- -c\n- |\n  export VLLM_ROCM_USE_AITER=1\n  vllm serve m \\\n"
            "    -tp 2\n",
            ("m", "-tp", "2"),
            "1",
        ),
        ("image: vllm/vllm-openai-rocm\ncommand: --model m -tp 2", ("--model", "m", "-tp", "2"), None),
        ("image: vllm/vllm-openai-rocm\ncommand: [m]\nenvironment: {VLLM_ROCM_USE_AITER: 1}", ("m",), "1"),
        ("image: vllm/vllm-openai-rocm\ncommand: [m]\nenvironment:\n- VLLM_ROCM_USE_AITER=1\n- X", ("m",), "1"),
        ("image: x\nentrypoint: vllm serve\ncommand: m\nenvironment: {VLLM_ROCM_USE_AITER: '${X:-1}'}", ("m",), None),
    ],
)
@pytest.mark.parametrize("around", ["services:\n  a:\n", "kind: Pod\nspec:\n  containers:\n  -\n", ""])
def test_commands_and_entry_points(container: str, arguments: tuple[str, ...], value: str | None, around: str) -> None:
    lines = container.splitlines()
    if around.endswith("-\n"):
        body = around.removesuffix("-\n") + "- " + "\n    ".join(lines)
    else:
        body = around + "\n".join(f"    {line}" if around else line for line in lines)
    found = command.from_text(body, (A,))
    assert (found.arguments, found.variables.get(A), found.inside) == (arguments, value, True)
    told = [problem.message for problem in found.problems]
    assert ("the value of VLLM_ROCM_USE_AITER is not read: give its variables with --env" in told) == (
        "${" in container
    )


def test_a_service_that_has_words_alone() -> None:
    text = "services:\n  a:\n    image: vllm/vllm-openai-rocm\n    command:\n    - m\n    - -tp=2\n    ports: [80]\n"
    assert command.from_text(text).arguments == ("m", "-tp=2")


def test_what_stands_in_other_objects_is_told() -> None:
    text = "image: vllm/vllm-openai-rocm\nargs: [m]\nenvFrom:\n- configMapRef: {name: x}\n"
    assert command.from_text(text).problems[0].message.startswith("envFrom is not read")
    text = "image: vllm/vllm-openai-rocm\ncommand: m\nenv_file: x.env\n"
    assert command.from_text(text).problems[0].message.startswith("env_file is not read")


def test_several_servers() -> None:
    one = "    image: vllm/vllm-openai-rocm\n    command: "
    text = f"services:\n  a:\n{one}m\n  b:\n{one}n\n"
    found = command.from_text(text)
    assert found.arguments == ("m",)
    assert found.problems[0].message.startswith("the text holds 2 commands that serve a model")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: Pod\nspec: {}", "the manifest: has no container with an image"),
        ("kind: Pod\nimage: busybox\nargs: [ls]", "starts busybox with no `vllm serve`"),
        ("kind: Pod\nimage: vllm/vllm-openai-rocm", "gives vllm/vllm-openai-rocm no model"),
        ("services:\n  a: &x\n    image: y", "the manifest: line 2 is beyond the plain YAML"),
        ("kind: Pod\nargs: >-\n  vllm serve m", "the manifest: line 2 is beyond the plain YAML"),
        ("kind: Pod\nname: {{ .Values.x }}", "the manifest: line 2 holds brackets"),
        ("image: x\ncommand: 'vllm serve \"m'\nenvironment: {}", "the manifest: command: cannot be split into words"),
        ("image: x\nargs: 3", "the manifest: args: expected a list of words"),
        ("---\n- vllm serve m", "expected a mapping"),
        ("- vllm serve m\n- command: vllm serve m", "expected a mapping"),
    ],
)
def test_what_is_not_read_is_said(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        command.from_text(text)
    assert words in str(caught.value)
