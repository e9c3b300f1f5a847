"""A page about one model, on the Hub or shipped: its addresses, and how what it was asked becomes it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fse_core.target import Target
from service import targets
from service.pages import controls
from service.pages.controls import Pairs
from service.pages.errors import error_page
from service.problems import Problem


@dataclass(frozen=True, kw_only=True)
class About:
    """The model as the address names it."""

    name: str
    revision: str
    shipped: bool

    @property
    def path(self) -> str:
        return f"/{'examples' if self.shipped else 'models'}/{self.name}"

    @property
    def asked(self) -> Pairs:
        """The revision, where it is not the usual one."""
        return [] if self.revision == "main" else [("revision", self.revision)]

    def link(self, room: str, *parts: Pairs) -> str:
        """One of the model's addresses; `room` is what comes after its name."""
        return controls.link(f"{self.path}{room}", self.asked, *parts)

    def at(self, target: Target) -> str:
        """The model's page for that target."""
        return self.link("", targets.to_pairs(target))


async def shown(request: Request, clean: Pairs, make: Callable[[], Awaitable[Response]]) -> Response:
    """The page that `make` makes at its one address, which asks for what is `clean`; what goes wrong is a page, too."""
    if clean != request.query_params.multi_items():
        return RedirectResponse(controls.link(request.url.path, clean), 303)
    try:
        return await make()
    except Problem as problem:
        return error_page(request, problem, "{org}/{name}".format(**request.path_params))
