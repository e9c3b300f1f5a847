"""Pages about releases: the index, a page for each, a model on all of them, and what another one changes."""

import html
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from fse_core import releases
from tests.hub_server import HubServer
from tests.service.browser.models import CONFIGS
from tests.service.clients import MODEL, files, problem

HTML = {"Accept": "text/html"}
PAGE = f"/models/{MODEL}"


def shown(client: TestClient, address: str) -> str:
    """The page's words, without its tags."""
    response = client.get(address, headers=HTML)
    assert response.status_code == 200, (address, response.text[:300])
    text = re.sub(r"<head>.*?</head>|<select.*?</select>", " ", response.text, flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)))


def links(client: TestClient, address: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'href="(/[^"#]*)', client.get(address, headers=HTML).text)]


def test_the_index_leads_to_every_release(client: TestClient) -> None:
    found = [link for link in links(client, "/releases") if link.startswith("/releases/")]
    assert found == [f"/releases/{version}" for version in reversed(releases.known())]


@pytest.mark.parametrize("version", releases.known())
def test_a_release_is_told_in_full(client: TestClient, version: str) -> None:
    release, text = releases.load(version), shown(client, f"/releases/{version}")
    told = [*release.changes, *release.wired, *release.environment, *release.words.values()]
    told += [fault.text for fault in release.faults.values()]
    for words in told:
        assert re.sub(r"\s+", " ", words) in text, words
    assert ("it fuses without asking" in text) is (not release.branches)
    for link in links(client, f"/releases/{version}"):
        if not link.startswith("/static/"):
            assert client.get(link).status_code in (200, 503), link  # a page that is busy is there


def test_other_names_lead_there_and_unknown_ones_nowhere(client: TestClient) -> None:
    latest = client.get("/releases/latest", follow_redirects=False)
    assert (latest.status_code, latest.headers["location"]) == (303, f"/releases/{releases.known()[-1]}")
    response = client.get("/releases/0.34.0", headers=HTML)
    assert response.status_code == 404
    assert "known are 0.11.1 to 0.33.0" in response.text
    problem(client.get("/v1/releases/0.34.0"), 404, "not-found")


@pytest.mark.parametrize("version", ["0.11.1", "0.20.2", "0.28.0", "0.31.0"])
def test_home_tells_of_the_release_that_was_chosen(client: TestClient, version: str) -> None:
    home = client.get(f"/?vllm={version}", headers=HTML).text
    assert f'Answers of vLLM <a href="/releases/{version}">' in home
    for address in re.findall(r'href="(/examples/[^"]*)"', home):
        assert f"vllm={version}&amp;" in address
    for example in client.get("/v1/examples").json()["examples"]:
        assert f"/examples/{example['name']}?vllm={version}" in home


def test_home_has_one_address_for_each_release(client: TestClient) -> None:
    for given, place in (("vllm=0.33.0", "/"), ("vllm=v0.28.0", "/?vllm=0.28.0"), ("x=1", "/"), ("vllm=", "/")):
        response = client.get(f"/?{given}", follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, place)
    assert client.get("/?vllm=0.34.0", headers=HTML).status_code == 404


def test_the_matrix_has_the_marks_of_the_api(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    told = client.get(f"/v1{PAGE}/matrix?tp=2").json()
    page = client.get(f"{PAGE}/matrix?tp=2", headers=HTML).text
    marks = re.findall(r'<span>([^<]*)<span class="unseen">: [^<]*</span></span>', page)
    expected = {cell["mark"] for row in told["releases"] for cell in row["cells"].values()}
    assert set(marks) == expected == {"breaks", "n"}
    for note in told["notes"]:
        assert f'<li id="note-{note["number"]}"' in page
    assert set(re.findall(r'href="#(note-\d+)"', page)) <= set(re.findall(r'id="(note-\d+)"', page))
    assert "does not fuse since 0.29.0" in page
    for link in [link for link in links(client, f"{PAGE}/matrix?tp=2") if "vllm=" in link]:
        assert client.get(link, headers=HTML).status_code == 200, link


@pytest.mark.parametrize("name", ["moonshotai/Kimi-K2.5", "nvidia/DeepSeek-V3-0324-NVFP4", "zai-org/GLM-5.3-Flash"])
def test_shipped_models_have_a_matrix_and_upgrades(client: TestClient, hub: HubServer, name: str) -> None:
    page = client.get(f"/examples/{name}", headers=HTML).text
    for part in ("matrix", "upgrade"):
        link = html.unescape(re.findall(rf'href="(/examples/{name}/{part}[^"]*)"', page)[0])
        assert client.get(link, headers=HTML).status_code == 200
        json_link = [link for link in links(client, link) if link.startswith("/v1/")]
        assert client.get(json_link[0]).status_code == 200
    assert hub.requests == []


def test_a_gpu_that_is_none_of_the_usual_gets_its_column(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    page = client.get(f"{PAGE}?gfx=gfx90a", headers=HTML).text
    link = html.unescape(re.findall(r'data-lazy="([^"]*)"', page)[0])
    assert '<th scope="col">gfx90a</th>' in client.get(link, headers=HTML).text
    assert "gfx90a" not in re.findall(r'data-lazy="([^"]*)"', client.get(PAGE).text)[0]


def test_an_upgrade_has_its_ends_in_the_address(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    first = client.get(f"{PAGE}/upgrade", follow_redirects=False)
    assert first.headers["location"] == f"{PAGE}/upgrade?from=0.32.0&to=0.33.0"
    text = shown(client, f"{PAGE}/upgrade?from=0.28.0&to=0.33.0&tp=2")
    for words in ("Better than before", "no longer fused, which went wrong", "FSE101", "A gate asks for every layer"):
        assert words in text
    assert "Worse than before" in shown(client, f"{PAGE}/upgrade?from=0.33.0&to=0.28.0")
    assert "Nothing changes" in shown(client, f"{PAGE}/upgrade?from=0.33.0&to=0.33.0")
    back = [link for link in links(client, f"{PAGE}/upgrade?from=0.28.0&to=0.33.0") if "from=0.33.0&to=0.28.0" in link]
    assert len(back) == 1


@pytest.mark.parametrize(
    ("query", "place"),
    [
        (
            "model=org/name&from=0.28.0&to=0.33.0&gfx=gfx942&tp=8",
            f"{PAGE}/upgrade?from=0.28.0&to=0.33.0&gfx=gfx942&tp=8",
        ),
        ("model=org/name@dev&from=0.28.0&to=0.33.0", f"{PAGE}/upgrade?revision=dev&from=0.28.0&to=0.33.0"),
        (
            "model=example/GLM-4.5-FP8-one-layer-ignored&from=0.28.0&to=0.33.0",
            "/examples/example/GLM-4.5-FP8-one-layer-ignored/upgrade?from=0.28.0&to=0.33.0",
        ),
    ],
)
def test_the_form_leads_to_the_models_upgrade(client: TestClient, query: str, place: str) -> None:
    assert client.get(f"/upgrade?{query}", follow_redirects=False).headers["location"] == place


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/models/org/none/matrix", 404, "There is nothing here"),
        ("/models/org/none/upgrade?from=0.28.0&to=0.33.0", 404, "There is nothing here"),
        ("/models/org/name/matrix?vllm=0.1.0", 422, "vllm"),
        ("/models/org/name/matrix?tp=0", 422, "tp"),
        ("/models/org/name/upgrade?from=0.1.0&to=0.33.0", 422, "from"),
        ("/models/org/name/upgrade?from=0.28.0&to=0.33.0&vllm=0.33.0", 422, "No such parameter"),
        ("/examples/no/such/matrix", 404, "There is nothing here"),
        ("/examples/no/such/upgrade?from=0.28.0&to=0.33.0", 404, "There is nothing here"),
        ("/upgrade?model=nothing", 422, "Expected a Hub id"),
    ],
)
def test_errors_are_pages(client: TestClient, hub: HubServer, path: str, status: int, words: str) -> None:
    hub.add(MODEL, files())
    response = client.get(path, headers=HTML)
    assert (response.status_code, response.headers["content-type"][:9]) == (status, "text/html")
    assert words in response.text


def test_the_last_known_answer_says_so(client: TestClient, hub: HubServer) -> None:
    hub.fail("GET /api/models/", status=503, times=None)
    for part in ("matrix?tp=8", "upgrade?from=0.28.0&to=0.33.0&tp=8"):
        response = client.get(f"/models/deepseek-ai/DeepSeek-R1-0528/{part}", headers=HTML)
        assert response.status_code == 200
        assert 'role="status"' in response.text
        assert response.headers["cache-control"] == "no-store"


def test_pages_are_kept_by_their_tags(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    for path in ("/releases", "/releases/0.28.0", f"{PAGE}/matrix", f"{PAGE}/upgrade?from=0.28.0&to=0.33.0"):
        first: Any = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path
