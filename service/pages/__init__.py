"""The dashboard: pages made on the server, which work without JavaScript."""

from fastapi import APIRouter

from service.pages import api_page, compare, home, matrix, model, playground, releases, rules, statics, upgrade
from service.pages.errors import error_page

__all__ = ["error_page", "router"]

router = APIRouter(include_in_schema=False)
for _room in (home, model, matrix, upgrade, releases, rules, compare, playground, api_page, statics):
    router.include_router(_room.router)
