"""`GET /v1/rules`: what each finding means."""

import pytest
from starlette.testclient import TestClient

from fse_core.output.words.rules import rules_to_dict
from fse_core.rules.texts import texts
from tests.output.schemas import validator
from tests.service.clients import problem

RULES = texts()


def test_the_list_is_that_of_fse_rules(client: TestClient) -> None:
    response = client.get("/v1/rules")
    assert response.json() == rules_to_dict(RULES)
    validator("rules").validate(response.json())
    assert response.headers["cache-control"] == "public, max-age=60"
    assert response.headers["content-type"] == "application/json"
    tag = response.headers["etag"]
    again = client.get("/v1/rules", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_each_rule_has_an_entry(client: TestClient, rule: object) -> None:
    told = rules_to_dict([rule])  # type: ignore[list-item]
    known, name = told["rules"][0]["id"], told["rules"][0]["name"]
    assert client.get(f"/v1/rules/{known}").json() == told
    for other in (known.lower(), name):
        assert client.get(f"/v1/rules/{other}").headers["etag"] == client.get(f"/v1/rules/{known}").headers["etag"]


@pytest.mark.parametrize("name", ["FSE999", "101", "nothing", "x" * 300, "%00"])
def test_what_is_no_rule(client: TestClient, name: str) -> None:
    problem(client.get(f"/v1/rules/{name}"), 404, "not-found")


def test_a_rule_that_was_meant_is_named(client: TestClient) -> None:
    assert "did you mean shared-width?" in problem(client.get("/v1/rules/shared-widht"), 404, "not-found")["detail"]


def test_the_document_names_every_rule(client: TestClient) -> None:
    parameters = client.get("/openapi.json").json()["paths"]["/v1/rules/{id}"]["get"]["parameters"]
    assert {rule.id for rule in RULES} <= set(parameters[0]["schema"]["enum"])
