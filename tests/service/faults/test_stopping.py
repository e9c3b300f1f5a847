"""Told to stop, the service finishes what has begun, says that it drains, and takes on nothing long."""

import json
import signal
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, files
from tests.service.processes import STOPPED, service


def get(url: str, answers: list[Any]) -> None:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            answers.append(answer.status)
    except urllib.error.HTTPError as error:
        answers.append(error.code)
    except OSError as error:
        answers.append(error)


def test_what_has_begun_is_finished(tmp_path: Path) -> None:
    with HubServer() as hub:
        hub.add(MODEL, files())
        hub.fail("/api/models", delay=1.5)
        with service(tmp_path, hub) as running:
            answers: list[Any] = []
            asking = threading.Thread(target=get, args=(running.url + URL, answers))
            asking.start()
            time.sleep(0.5)
            assert running.stop() in STOPPED
            asking.join()
            assert answers == [200]
            told = running.log.read_text()
            assert '"event": "stopped"' in told
            assert "Traceback" not in told


def test_it_drains_first(tmp_path: Path) -> None:
    with service(tmp_path, FSE_DRAIN_SECONDS="2") as running:
        running.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        answers: list[Any] = []
        get(running.url + "/readyz", answers)
        get(running.url + "/livez", answers)
        get(running.url + "/v1/examples", answers)
        assert answers == [503, 200, 200]
        assert running.process.wait(10) in STOPPED


def test_a_batch_ends_with_a_problem_for_what_was_not_begun(tmp_path: Path) -> None:
    with HubServer() as hub:
        names = [f"org/m{number}" for number in range(100)]
        for name in names:
            hub.add(name, files())
        hub.fail("/api/models", delay=0.3)
        with service(tmp_path, hub) as running:
            request = urllib.request.Request(
                f"{running.url}/v1/batch",
                data=json.dumps({"models": names}).encode(),
                headers={"Content-Type": "application/json"},
            )
            results: list[Any] = []

            def ask() -> None:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    results.append(json.load(answer))

            asking = threading.Thread(target=ask)
            asking.start()
            time.sleep(0.9)
            assert running.stop() in STOPPED
            asking.join()
    [told] = results
    assert told["succeeded"] >= 8
    assert told["succeeded"] + told["failed"] == 100
    kinds = {result["problem"]["type"] for result in told["results"] if result["problem"]}
    assert kinds == {"/problems/not-ready"}
