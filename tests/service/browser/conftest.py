"""A real Chromium in front of a started service and a Hub on this machine."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hub_server import HubServer
from tests.service.browser.models import fill
from tests.service.processes import service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = os.environ.get("FSE_CHROMIUM", "/usr/bin/chromium")
AXE = "4.14.1"
_ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REPORT_VIOLATIONS = "addEventListener('securitypolicyviolation', e => console.error('CSP ' + e.violatedDirective))"


# For a module: while Playwright runs, its event loop is this thread's, and tests beside these start loops of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("the browser tests need playwright: pip install playwright (it need not bring a browser)")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; FSE_CHROMIUM names another place")
    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=_ARGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service whose Hub has the models of models.py."""
    with HubServer() as hub:
        fill(hub)
        with service(tmp_path_factory.mktemp("site"), hub) as running:
            yield running.url


@dataclass(kw_only=True)
class Watch:
    """What a browser did that no page may: requests elsewhere, failed parts, complaints."""

    site: str
    wrong: list[str] = field(default_factory=list)

    def over(self, context: "BrowserContext") -> None:
        context.on("request", lambda request: self._request(request.url))
        context.on("response", lambda answer: self._part(answer.url, answer.status, answer.request.resource_type))
        context.on("weberror", lambda error: self.wrong.append(f"exception: {error.error}"))
        context.on("console", lambda said: self._said(said.type, said.text))

    def _request(self, url: str) -> None:
        if not url.startswith((f"{self.site}/", "data:")):
            self.wrong.append(f"request to {url}")

    def _part(self, url: str, status: int, kind: str) -> None:
        if kind != "document" and status >= 400:
            self.wrong.append(f"{status} for {url}")

    def _said(self, kind: str, text: str) -> None:
        # That a document itself is an error page is told on the console, and is what some tests ask for.
        if kind in ("error", "warning") and not text.startswith("Failed to load resource"):
            self.wrong.append(f"console: {text}")


@pytest.fixture
def watch(site: str) -> Iterator[Watch]:
    """Fails the test in the end if anything went wrong meanwhile."""
    watching = Watch(site=site)
    yield watching
    assert watching.wrong == []


@pytest.fixture
def page(browser: "Browser", site: str, watch: Watch) -> Iterator["Page"]:
    """A page of a desktop browser in the light scheme, watched."""
    context = browser.new_context(base_url=site, viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
    context.add_init_script(REPORT_VIOLATIONS)
    context.set_default_timeout(10_000)
    watch.over(context)
    yield context.new_page()
    context.close()


@pytest.fixture
def plain(browser: "Browser", site: str, watch: Watch) -> Iterator["Page"]:
    """A page of a browser without JavaScript."""
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.set_default_timeout(10_000)
    watch.over(context)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest) -> str:
    """axe-core's source: FSE_AXE names the file, else npm brings it once into pytest's cache."""
    given = os.environ.get("FSE_AXE")
    if given:
        return Path(given).read_text(encoding="utf-8")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the accessibility tests need npm, or FSE_AXE with the place of axe.min.js")
    folder = Path(request.config.cache.mkdir(f"axe-core-{AXE}"))
    file = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not file.exists():
        command = [npm, "install", "--prefix", str(folder), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run([*command, f"axe-core@{AXE}"], capture_output=True, text=True, timeout=180, check=False)
        if not file.exists():
            pytest.skip(f"npm could not bring axe-core {AXE}: {done.stderr[-300:]}")
    return file.read_text(encoding="utf-8")
