"""The parameters that name a target, from a query and from JSON, and back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from fse_core import Target
from fse_core.errors import InputError
from service import targets
from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, files, problem

LATEST = "0.33.0"

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("vllm=latest", {}),
    ("vllm=0.33.0", {}),
    ("gfx=gfx950&tp=8&ep=true&dp=2&pcp=2&pp=4", {"gfx": "gfx950", "tp": 8, "ep": True, "dp": 2, "pcp": 2, "pp": 4}),
    ("moe_backend=FlashInfer-TRTLLM", {"moe_backend": "flashinfer_trtllm"}),
    ("all2all_backend=deepep_v2&eplb=true&dbo=true", {"all2all_backend": "deepep_v2", "eplb": True, "dbo": True}),
    ("env=A=1&env=B=x%3Dy&env=C=", {"environment": {"A": "1", "B": "x=y", "C": ""}}),
    ('quantization_config={"a":"b"}', {"overlay": {"a": "b"}}),
    ("draft=false&plugin=true", {"draft": False, "plugin": True}),
]

BAD = [
    ("tp=0", "tp"),
    ("tp=65537", "tp"),
    ("tp=08", "tp"),
    ("pp=1025", "pp"),
    ("tp=%C2%B2", "tp"),
    ("tp=1&tp=2", "tp"),
    ("tp=", "tp"),
    ("ep=1", "ep"),
    ("ep=True", "ep"),
    ("gfx=sm90", "gfx"),
    ("gfx=gfx942%0A", "gfx"),
    ("vllm=0.1.0", "vllm"),
    ("vllm=..%2F..", "vllm"),
    ("env=A", "env"),
    ("env=1A=2", "env"),
    ("env=A=%00", "env"),
    ("moe_backend=", "moe_backend"),
    ("moe_backend=a%20b", "moe_backend"),
    ("all2all_backend=none", "all2all_backend"),
    ("quantization_config=[]", "quantization_config"),
    ("quantization_config=%7B%22a%22%3A1%2C%22a%22%3A2%7D", "quantization_config: a"),
    ("tensor_parallel_size=8", "tensor_parallel_size"),
    ("draft=no", "draft"),
]


@pytest.mark.parametrize(("query", "fields"), GOOD)
def test_a_query_and_back(query: str, fields: dict[str, Any]) -> None:
    target = targets.from_query(QueryParams(query).multi_items())
    assert target == Target(**{"vllm": LATEST, **fields})
    assert targets.from_query(QueryParams(targets.to_query(target)).multi_items()) == target
    assert targets.from_json(target.as_dict()) == target


@pytest.mark.parametrize(("query", "path"), BAD)
def test_what_is_wrong_is_named(client: TestClient, hub: HubServer, query: str, path: str) -> None:
    assert problem(client.get(f"{URL}?{query}"), 422, "invalid-input")["path"] == path
    assert hub.requests == []


@pytest.mark.parametrize(
    ("given_target", "path"),
    [
        ({"tp": True}, "target.tp"),
        ({"tp": None}, "target.tp"),
        ({"tp": 1.5}, "target.tp"),
        ({"ep": 1}, "target.ep"),
        ({"gfx": 942}, "target.gfx"),
        ({"env": ["A"]}, "target.env"),
        ({"env": {"A": 1}}, "target.env.A"),
        ({"env": "A=1"}, "target.env"),
        ({"tpp": 1}, "target.tpp"),
        ({"quantization_config": 1}, "target.quantization_config"),
    ],
)
def test_what_is_wrong_in_json_is_named(given_target: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        targets.from_json(given_target)
    assert caught.value.path == path


@given(st.text(max_size=20), st.sampled_from([parameter.name for parameter in targets.PARAMETERS]))
def test_any_text_is_a_target_or_an_input_error(text: str, name: str) -> None:
    try:
        target = targets.from_query([(name, text)])
    except InputError as error:
        refused = error.path
    else:
        refused = name
        assert targets.from_query(QueryParams(targets.to_query(target)).multi_items()) == target
    assert refused.startswith(name)


def test_one_answer_for_each_target_however_it_is_spelt(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    first = client.get(f"{URL}?tp=8&vllm=latest").content
    assert client.get(f"{URL}?vllm=0.33.0&tp=8&ep=false").content == first
    assert client.get(f"{URL}?tp=2&ep=false").content != first
