"""`ignore=`: findings that an address puts aside."""

import re
from html import unescape

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from tests.hub_server import HubServer
from tests.output.test_json import SCHEMA
from tests.service import headers
from tests.service.browser.models import CONFIGS
from tests.service.clients import MODEL, URL, files, problem

OLD = "vllm=0.28.0&gfx=gfx942&tp=2"
SHIPPED = "/v1/examples/moonshotai/Kimi-K2.5"


def test_they_stand_apart_and_the_verdict_stays(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files(CONFIGS["org/apart"])).refs["main"]
    plain, response = client.get(f"{URL}?{OLD}").json(), client.get(f"{URL}?{OLD}&ignore=FSE101")
    told = response.json()
    Draft202012Validator(SCHEMA).validate(told)
    assert told["verdict"] == plain["verdict"] == "breaks"
    aside = [finding for finding in plain["findings"] if finding["rule"] == "FSE101"]
    assert aside
    assert [one["finding"] | {"places": []} for one in told["ignored"]] == [one | {"places": []} for one in aside]
    assert told["findings"] == [finding for finding in plain["findings"] if finding["rule"] != "FSE101"]
    assert all("FSE101" not in layer["findings"] for layer in told["layers"])
    place = response.headers["content-location"]
    assert place == f"{URL}?revision={commit}&{OLD}&ignore=FSE101"
    assert "immutable" in client.get(place).headers["cache-control"]
    same = client.get(f"{URL}?{OLD}&ignore=fse101&ignore=shared-stored-unlike-routed")
    assert same.content == response.content


def test_with_headers_too(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.plain_shared()))
    told = client.get(f"{URL}?headers=full", headers=headers.WHOLE).json()
    rules = sorted({finding["rule"] for finding in told["findings"] if finding["severity"] == "error"})
    query = "&".join(f"ignore={rule}" for rule in rules)
    without = client.get(f"{URL}?headers=full&{query}", headers=headers.WHOLE).json()
    assert not any(finding["severity"] == "error" for finding in without["findings"])
    assert {one["finding"]["rule"] for one in without["ignored"]} == set(rules)


def test_of_a_shipped_model_as_it_is_shown(client: TestClient) -> None:
    told = client.get(f"{SHIPPED}?ignore=FSE101").json()
    assert (told["target"], told["ignored"]) == (client.get(SHIPPED).json()["target"], [])
    old = client.get(f"{SHIPPED}?vllm=0.28.0&ignore=FSE101").json()
    assert [one["finding"]["rule"] for one in old["ignored"]] == ["FSE101"]


@pytest.mark.parametrize("rule", ["FSE999", "", "x" * 500])
def test_what_is_no_rule(client: TestClient, hub: HubServer, rule: str) -> None:
    assert problem(client.get(f"{URL}?ignore={rule}"), 422, "invalid-input")["path"] == "ignore"
    assert hub.requests == []


@pytest.mark.parametrize("path", ["matrix", "diff?from=0.28.0&to=0.33.0"])
def test_where_it_is_not_taken(client: TestClient, path: str) -> None:
    query = "&" if "?" in path else "?"
    assert problem(client.get(f"{URL}/{path}{query}ignore=FSE101"), 422, "invalid-input")["path"] == "ignore"


@pytest.mark.parametrize("place", [f"/models/{MODEL}", "/examples/moonshotai/Kimi-K2.5"])
def test_a_page_puts_aside_and_takes_back(client: TestClient, hub: HubServer, place: str) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    page = client.get(f"{place}?{OLD}").text
    assert 'id="ignored"' not in page
    link = unescape(re.findall(r'<a href="([^"]*)" rel="nofollow">put aside', page)[0])
    assert link == f"{place}?{OLD}&ignore=FSE101"
    page = client.get(link).text
    assert 'id="ignored"' in page
    assert "Breaks" in page
    assert '<input type="hidden" name="ignore" value="FSE101">' in page
    assert unescape(re.findall(r'<a href="([^"]*)" rel="nofollow">Take back', page)[0]) == f"{place}?{OLD}"
    assert "&ignore=FSE101" in unescape(re.findall(r'<a href="([^"]*)">The same as JSON', page)[0])
