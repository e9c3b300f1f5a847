"""The addresses of a question about many releases: one for models on the Hub, and one for the shipped ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, spans, state
from service.api import inputs
from service.api.replies import Reply, for_report, remembered


@dataclass(frozen=True, kw_only=True)
class Spanning:
    """`name` ends the address; `schema` is what comes back, `result` in a word or two what that is.

    `summary` has braces for the kind of model.
    """

    name: str
    schema: str
    result: str
    summary: str
    about: str
    parameters: list[dict[str, Any]]
    read: Callable[..., spans.Asked[Any]]

    def router(self) -> APIRouter:
        """Both routes."""
        made = APIRouter()
        made.get(
            f"/v1/models/{{org}}/{{name}}/{self.name}",
            operation_id=f"models-{self.name}",
            summary=_began(self.summary.format("a model")),
            description=self.about,
            tags=["models"],
            response_class=Response,
            responses=openapi.answer_responses(self.schema, self.result, *openapi.OF_MODEL),
            openapi_extra={
                "parameters": [*openapi.PATH_PARAMETERS, openapi.REVISION, *self.parameters],
                "security": openapi.SECURITY,
            },
        )(self._of_model)
        made.get(
            f"/v1/examples/{{org}}/{{name}}/{self.name}",
            operation_id=f"examples-{self.name}",
            summary=_began(self.summary.format("a shipped model")),
            description="As for a model on the Hub; without options, served as the example is shown.",
            tags=["examples"],
            response_class=Response,
            responses=openapi.answer_responses(
                self.schema, self.result, "not-found", "invalid-input", "too-slow", "busy"
            ),
            openapi_extra={"parameters": [*openapi.PATH_PARAMETERS, *self.parameters]},
        )(self._of_example)
        return made

    async def _of_model(self, request: Request) -> Response:
        return await remembered(request, self._made)

    async def _made(self, request: Request, token: str | None) -> Reply:
        here = state.of(request)
        model, revision = inputs.named(request)
        with inputs.reading():
            asked = self.read(request.query_params.multi_items(), also=("revision",))
        with inputs.fetching(model, revision):
            served = await here["reports"].answer(model, revision, asked.question, token)
        place = inputs.at_commit(request.url.path, served, revision, asked)
        return for_report(served, place, here["settings"].branch_seconds, pinned=not place)

    async def _of_example(self, request: Request) -> Response:
        here = state.of(request)
        example = inputs.example(request)
        with inputs.reading():
            asked = self.read(request.query_params.multi_items(), example)
        served = await here["reports"].shipped(example.name, asked.question)
        return for_report(served, "", here["settings"].branch_seconds, pinned=False).to(request.scope)


def _began(words: str) -> str:
    return words[:1].upper() + words[1:]
