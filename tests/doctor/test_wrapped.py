"""What stands before a command decides what it sees: sudo, env, shells, here-documents, other machines, pods."""

import subprocess
import time

import pytest

from fse_core.doctor import command
from fse_core.errors import InputError

A = "VLLM_ROCM_USE_AITER"
SUDO = "sudo hands on no variable of its caller's"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sudo vllm serve m", None),
        ("{A}=1 sudo vllm serve m", None),
        ("export {A}=1; sudo -u bob -g x vllm serve m", None),
        ("{A}=1 sudo -E vllm serve m", "1"),
        ("{A}=1 sudo -nE -u bob vllm serve m", "1"),
        ("{A}=1 sudo --preserve-env vllm serve m", "1"),
        ("{A}=1 sudo --preserve-env=B,{A} vllm serve m", "1"),
        ("{A}=1 sudo --preserve-env=B vllm serve m", None),
        ("sudo {A}=1 vllm serve m", "1"),
        ("{A}=1 srun -n 1 vllm serve m", "1"),
        ("{A}=1 srun -n 1 --export=NONE vllm serve m", None),
        ("{A}=1 srun --export NONE vllm serve m", None),
        ("{A}=1 srun --export=B,{A} vllm serve m", "1"),
        ("{A}=1 srun --export=ALL,B=2 vllm serve m", "1"),
        ("srun --export={A}=1 vllm serve m", "1"),
        ("sudo -- env {A}=1 vllm serve m", "1"),
        ("sudo -ubob {A}=1 vllm serve m", "1"),
        ("{A}=1 sudo bash -c 'vllm serve m'", None),
        ("sudo bash -c 'export {A}=1; vllm serve m'", "1"),
        ("timeout 60 env {A}=1 vllm serve m", "1"),
        ("env -S '{A}=1 vllm serve m'", "1"),
        ("env -i '-S{A}=1 vllm' serve m", "1"),
        ("env --split-string='-u {A} vllm serve m'", None),
        ("su - bob -c '{A}=1 vllm serve m'", "1"),
        ("export {A}=1; su bob -c 'vllm serve m'", "1"),
        ("export {A}=1; su - bob -c 'vllm serve m'", None),
        ("export {A}=1; eval vllm serve m", "1"),
        ("export {A}=1; ssh -p 22 host vllm serve m", None),
        ("ssh -i key bob@host '{A}=1 vllm serve m'", "1"),
        ("ssh host <<X\n{A}=1 vllm serve m\nX", "1"),
        ("ssh host bash -s <<X\nexport {A}=1\nvllm serve m\nX", "1"),
        ("export {A}=1; kubectl -n x exec -it pod -c a -- vllm serve m", None),
        ("timeout 9 kubectl exec pod -- env {A}=1 vllm serve m", "1"),
        ("kubectl run x --image=vllm/vllm-openai-rocm:v0.30.0 --env={A}=1 -- m", "1"),
        ("kubectl run x --image rocm/vllm --env {A}=1 --command -- vllm serve m", "1"),
        ("export {A}=1; docker exec -it -w / box vllm serve m", None),
        ("docker exec -e {A}=1 box bash -lc 'vllm serve m'", "1"),
        ("docker compose exec -T -e {A}=1 svc vllm serve m", "1"),
        ("{A}=1 docker compose -f a.yaml -f b.yaml exec svc vllm serve m", None),
        ("{A}=1 docker-compose -f a.yaml run --no-deps svc vllm serve m", None),
        ("{A}=1 docker -H tcp://host:1 run image vllm serve m", None),
    ],
)
@pytest.mark.parametrize("outside", [False, True])
def test_what_vllm_sees(text: str, value: str | None, outside: bool) -> None:
    """`outside`: whether the process that asks has the variable itself, which it then must not be taken to hand on."""
    found = command.from_text(text.format(A=A), (A,) if outside else ())
    assert found.arguments == ("m",)
    assert found.variables.get(A) == value
    if value is None:
        assert found.inside or A in found.removed
        assert A not in found.passed


def test_what_sudo_keeps_back_is_told() -> None:
    for text, severity, named in (
        (f"{A}=1 sudo vllm serve m", "warning", f"(here: {A})"),
        ("HOME=/x sudo vllm serve m", "info", "sudo -E"),
    ):
        (problem,) = command.from_text(text).problems
        assert problem.severity == severity
        assert problem.message.startswith(SUDO)
        assert problem.message.endswith(named)
    assert not command.from_text(f"{A}=1 sudo -E vllm serve m").problems
    kept = command.from_text(f"sudo --preserve-env={A} vllm serve m")
    assert (kept.passed, kept.problems) == ((A,), ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vllm serve m", ()),
        ("nohup nice -n 5 numactl -N 0 python3 -m vllm.entrypoints.cli.main serve m", ()),
        ("xargs -n1 vllm serve m", ("xargs is not known here",)),
        ("/opt/run.sh --x vllm serve m", ("run.sh is not known here",)),
        ("bash run.sh vllm serve m", ("run.sh is not read",)),
        ("ssh host vllm serve m", ("variables that the other machine sets are not seen here",)),
        ("kubectl exec pod -- vllm serve m", ("variables that the pod has already are not seen here",)),
        ("docker exec box vllm serve m", ("variables that the container has already are not seen here",)),
        ("su - bob -c 'vllm serve m'", ("what the login of another user sets is not seen here",)),
    ],
)
def test_what_is_not_known_is_told(text: str, words: tuple[str, ...]) -> None:
    problems = command.from_text(text).problems
    assert len(problems) == len(words)
    for problem, start in zip(problems, words, strict=True):
        assert problem.message.startswith(start)


@pytest.mark.parametrize(
    "options",
    ["-c", "-lc", "-l -c --", "-o pipefail -c", "-ec", "--norc -c", "--rcfile x -c", "+x -c", "-eo pipefail -c"],
)
def test_options_of_a_shell(options: str) -> None:
    text = f"bash {options} 'printf \"%s \" vllm serve m' no"
    assert subprocess.run(text, shell=True, capture_output=True, text=True, check=True).stdout == "vllm serve m "
    assert command.from_text(f"bash {options} 'vllm serve m' no").arguments == ("m",)


@pytest.mark.parametrize(
    "text",
    [
        "bash <<EOF\nvllm serve m -tp $TP\nEOF\n",
        "bash -s a b <<'EOF'\nTP=2\nvllm serve m -tp $TP\nEOF\n",
        "TP=4\nbash <<EOF\nTP=2\nvllm serve m -tp $TP\nEOF\n",
        "TP=4\nbash <<EOF\nTP=2\nvllm serve m -tp \\$TP ${NO:-x} ${TP}\nEOF\n",
        "bash <<-EOF\n\tvllm serve m \\\n\t -tp 8\n\tEOF\n",
        'bash <<< "vllm serve m -tp 8"',
        "cat <<A >/dev/null; bash <<B\nvllm serve no\nA\nvllm serve m\nB\n",
        "bash <<\\EOF\nvllm serve m '$Q'\nEOF\n",
        'A="vllm serve"\nbash <<"EOF"\n: no\nEOF\nbash <<EOF && echo >/dev/null\n$A m\nEOF\n',
    ],
)
def test_a_here_document_is_what_bash_makes_of_it(text: str) -> None:
    given = 'vllm() { for w in "$@"; do printf "%s\\0" "$w"; done; }; export -f vllm; unset TP NO; ' + text
    told = subprocess.run(["bash", "-c", given], capture_output=True, text=True, check=True).stdout
    expected = told.removesuffix("\0").split("\0")[1:]
    found = [word for word in command.from_text(text).arguments if word != "$TP"]
    assert found == expected


def test_what_a_here_document_takes_from_outside_stays_unknown() -> None:
    """Not what is set inside of it: the outer shell has put something in its place by then."""
    assert command.from_text("bash <<EOF\nTP=2\nvllm serve m -tp $TP\nEOF\n").arguments == ("m", "-tp", "$TP")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bash run.sh", "runs run.sh, which is not read: give it to --script"),
        ("kubectl apply -f - <<X\nargs: [vllm serve m]\nX", "holds no `vllm serve`"),
        ("kubectl exec pod vllm serve m", "kubectl exec: has no -- before the command"),
        ("kubectl run x -- vllm serve m", "kubectl run: names no --image"),
        ("kubectl run x --image=y --command --", "kubectl run: has --command and no command"),
        ("kubectl run x --image=y -- ls", "starts y with no `vllm serve`"),
        ("docker exec -it", "docker exec: names no container"),
        ("docker exec box ls", "holds no `vllm serve` for what runs already"),
        ("sudo -u vllm serve m", "holds no `vllm serve`"),
        ("env -S '\"vllm serve m'", "env -S: cannot be split into words"),
        ("tmux new -d 'vllm serve m'", "holds no `vllm serve`"),
        ("su bob", "holds no `vllm serve`"),
        ("ssh host", "holds no `vllm serve`"),
    ],
)
def test_what_is_not_read_is_said(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        command.from_text(text)
    assert words in str(caught.value)


def test_of_models_one() -> None:
    with pytest.raises(InputError, match="of models, only one is looked at"):
        command.from_words(["org/a", "org/b"])


@pytest.mark.parametrize(
    "text",
    ["sudo " * 100_000, "kubectl " * 100_000, "bash -o " * 100_000, "x <<A " * 20_000, "env " + "-S-i " * 200_000],
)
def test_long_texts_take_no_long_time(text: str) -> None:
    with pytest.raises(InputError):
        command.from_text(text)


@pytest.mark.parametrize("runs", ["bash -c", "docker run -e V image bash -c"])
def test_a_text_that_holds_itself_several_times_has_an_end(runs: str) -> None:
    inner = "; ".join([f'{runs} "$V"'] * 4)
    began = time.process_time()
    with pytest.raises(InputError, match="is wrapped more than 16 times"):
        command.from_text(f"export V='{inner}'\nbash -c \"$V\"")
    assert time.process_time() - began < 20
