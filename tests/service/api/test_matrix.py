"""`GET .../matrix`: a model on all releases and GPUs."""

import asyncio
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from fse_core import Target, releases
from fse_core.errors import OutOfTime
from fse_core.matrix import Matrix
from fse_core.output.matrix.json import matrix_to_dict
from fse_core.read.source import model_from_dict
from fse_core.report import Source
from fse_core.sweep import sweep
from service import questions
from tests.hub_server import HubServer
from tests.output.schemas import validator
from tests.service.clients import CONFIG, MODEL, TOKEN, asked, files, problem, serving

URL = f"/v1/models/{MODEL}/matrix"


def test_the_matrix_is_that_of_fse_matrix(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files()).refs["main"]
    told = client.get(f"{URL}?tp=8").json()
    made = matrix_to_dict(sweep(model_from_dict(CONFIG), Target(tp=8)))
    source = Source(kind="hub", id=MODEL, revision="main", commit=commit)
    assert told.pop("source") == {"kind": source.kind, "id": MODEL, "revision": "main", "commit": commit}
    made.pop("source")
    assert told == made
    validator("matrix").validate(client.get(URL).json())


def test_each_cell_is_what_the_report_says(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    told = client.get(f"{URL}?tp=2&dp=2").json()
    assert [row["vllm"] for row in told["releases"]] == list(releases.known())
    for row in told["releases"][::6]:
        for gfx, cell in row["cells"].items():
            report = client.get(f"/v1/models/{MODEL}?tp=2&dp=2&vllm={row['vllm']}&gfx={gfx}").json()
            assert cell["verdict"] == report["verdict"], row["vllm"]


@pytest.mark.parametrize(
    ("query", "versions", "gpus"),
    [
        ("vllm=0.31.0", ["0.31.0"], ["gfx942", "gfx950"]),
        ("vllm=0.32.0..&vllm=0.30.0&gfx=gfx90a", ["0.30.0", "0.32.0", "0.33.0"], ["gfx90a"]),
        ("vllm=..0.12.0&gfx=gfx950&gfx=gfx942", ["0.11.1", "0.11.2", "0.12.0"], ["gfx950", "gfx942"]),
        ("vllm=latest&vllm=0.19.1%2Brocm721", ["0.19.1", "0.33.0"], ["gfx942", "gfx950"]),
        ("vllm=0.34.0", ["0.34.0"], ["gfx942", "gfx950"]),
    ],
)
def test_releases_and_gpus_may_be_named(
    client: TestClient, hub: HubServer, query: str, versions: list[str], gpus: list[str]
) -> None:
    hub.add(MODEL, files())
    told = client.get(f"{URL}?{query}").json()
    assert [row["vllm"] for row in told["releases"]] == versions
    assert told["gpus"] == gpus


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("vllm=0.1.0", "vllm"),
        ("vllm=0.33.0..0.11.1", "vllm"),
        ("vllm=a..b", "vllm"),
        ("gfx=sm90", "gfx"),
        ("gfx=gfx942&gfx=gfx950&gfx=gfx90a&gfx=gfx1250&gfx=gfx1100", "vllm"),
        ("tp=0", "tp"),
        ("moe_backend=none", "moe_backend"),
        ("revision=a&revision=b", "revision"),
        ("from=0.31.0", "from"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, hub: HubServer, query: str, path: str) -> None:
    assert problem(client.get(f"{URL}?{query}"), 422, "invalid-input")["path"] == path
    assert hub.requests == []


def test_an_option_that_only_some_releases_have_is_told_in_the_cells(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    told = client.get(f"{URL}?moe_backend=flydsl").json()
    marks = {row["vllm"]: row["cells"]["gfx942"] for row in told["releases"]}
    assert (marks["0.23.0"]["mark"], marks["0.23.0"]["verdict"]) == ("-", None)
    assert marks["0.33.0"]["verdict"] is not None
    assert problem(client.get(f"/v1/models/{MODEL}?moe_backend=flydsl&vllm=0.23.0"), 422, "invalid-input")


def test_what_may_be_kept(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files()).refs["main"]
    branch = client.get(f"{URL}?tp=2&vllm=0.32.0..")
    assert branch.headers["cache-control"] == "public, max-age=60"
    place = branch.headers["content-location"]
    assert place == f"{URL}?revision={commit}&vllm=0.32.0&vllm=0.33.0&gfx=gfx942&gfx=gfx950&tp=2"
    exact = client.get(place)
    assert "immutable" in exact.headers["cache-control"]
    assert "content-location" not in exact.headers
    assert exact.json()["releases"] == branch.json()["releases"]
    assert client.get(place, headers={"If-None-Match": exact.headers["etag"]}).status_code == 304
    # Another version of fse may know more releases.
    assert "immutable" not in client.get(f"{URL}?revision={commit}").headers["cache-control"]
    assert "immutable" not in client.get(f"{URL}?revision={commit}&vllm=latest").headers["cache-control"]


def test_it_is_made_once_from_facts_that_are_read_once(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path) as client:
        first = client.get(URL)
        client.get(f"/v1/models/{MODEL}/diff?from=0.28.0&to=0.33.0")
        client.get(f"/v1/models/{MODEL}")
        assert asked(hub, "config.json") == 1
    monkeypatch.setattr("service.processes.Processes.run", _unasked)
    with serving(tmp_path) as client:
        assert client.get(URL).content == first.content


async def _unasked(*_: object) -> bytes:
    raise AssertionError("it is known")


def test_a_token_opens_it_for_one_request(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(), private=True)
    hub.tokens["hf_reader"] = {MODEL}
    mine = client.get(URL, headers=TOKEN)
    assert mine.status_code == 200
    assert mine.headers["cache-control"] == "private, no-store"
    problem(client.get(URL), 404, "not-found")


def test_it_does_not_outlast_its_time(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, check_seconds=0.0001) as client:
        problem(client.get(URL), 503, "too-slow")


def test_what_hangs_on_the_load_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    target, model = Target(), model_from_dict(CONFIG)
    late = {"out_of_time": True}

    def hurried(*given: object) -> Matrix:
        made = sweep(model, target, ["0.33.0"])
        return Matrix(**{**vars(made), **late})

    monkeypatch.setattr(questions, "sweep", hurried)
    with pytest.raises(OutOfTime):
        questions.Sweep(target=target, versions=("0.33.0",), gpus=("gfx942",)).body(model)


def test_a_shipped_model(client: TestClient, hub: HubServer) -> None:
    place = "/v1/examples/moonshotai/Kimi-K2.5/matrix"
    told = client.get(place).json()
    validator("matrix").validate(told)
    assert told["options"]["tp"] == 8
    assert {row["cells"]["gfx942"]["mark"] for row in told["releases"]} == {"-", "breaks", "n"}
    assert client.get(f"{place}?dp=2").json()["options"]["tp"] == 1
    assert client.get(f"{place}?gfx=gfx950&vllm=0.33.0").json()["options"]["tp"] == 8
    problem(client.get("/v1/examples/no/such/matrix"), 404, "not-found")
    assert hub.requests == []


def test_the_loop_is_free_meanwhile(tmp_path: Path, hub: HubServer) -> None:
    from service.processes import Processes

    async def run() -> int:
        processes = Processes("matrices", most=1, each=2, seconds=20)
        question = questions.Sweep(target=Target(), versions=releases.known(), gpus=("gfx942", "gfx950"))
        folder = Path(__file__).parents[3] / "examples" / "Qwen--Qwen3.8-2.4T-A95B-FP8"
        await processes.run(questions.of_folder, folder, "a/b", question)
        turns = 0
        working = asyncio.ensure_future(processes.run(questions.of_folder, folder, "a/b", question))
        while not working.done():
            await asyncio.sleep(0)
            turns += 1
        await working
        await processes.close()
        return turns

    assert asyncio.run(run()) > 100, "a loop that waits for the answer turns a few times"
