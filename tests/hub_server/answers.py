"""The right answer to a request, by the rules that the Hub follows."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from tests.hub_server.state import Data, Repo, Request, etag

if TYPE_CHECKING:
    from tests.hub_server.server import HubServer

_API = re.compile(r"/api/models/(?P<id>[^/]+(?:/[^/]+)?)(?:/revision/(?P<revision>[^/]+))?")
_TREE = re.compile(r"/api/models/(?P<id>[^/]+/[^/]+)/tree/(?P<revision>[^/]+)")
_RESOLVE = re.compile(r"/(?P<id>[^/]+(?:/[^/]+)?)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_BLOB = re.compile(r"/blobs/(?P<etag>[0-9a-f]{64})")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@dataclass(kw_only=True)
class Answer:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Data = b""


def answer(hub: "HubServer", request: Request) -> Answer:
    path = urlsplit(request.path).path
    if request.host == "cdn":
        found = _BLOB.fullmatch(path)
        return _blob(hub, request, found["etag"]) if found else Answer(status=404)
    if found := _TREE.fullmatch(path):
        return _tree(hub, request, *_names(found))
    if found := _API.fullmatch(path):
        return _info(hub, request, *_names(found))
    if found := _RESOLVE.fullmatch(path):
        return _resolve(hub, request, *_names(found), unquote(found["file"]))
    return refusal(404, "", "Sorry, we can't find the page you are looking for.")


def refusal(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    told = {"X-Error-Message": message, "Content-Type": "application/json", **(headers or {})}
    if code:
        told["X-Error-Code"] = code
    return Answer(status=status, headers=told, body=json.dumps({"error": message}).encode())


def _names(found: re.Match[str]) -> tuple[str, str]:
    return unquote(found["id"]), unquote(found["revision"] or "main")


def _readable(hub: "HubServer", request: Request, id: str) -> Repo | Answer:
    """The repository, or the refusal that does not tell a private one from one that is not there."""
    token = request.token
    if token is not None and token not in hub.tokens:
        return refusal(401, "", "Invalid credentials in Authorization header")
    repo = hub.repos.get(id)
    if repo is None or (repo.private and id not in hub.tokens.get(token or "", ())):
        if token is None:
            return refusal(401, "RepoNotFound", "Invalid username or password.")
        return refusal(404, "RepoNotFound", "Repository not found")
    if repo.disabled:
        return refusal(403, "", "Access to this resource is disabled.")
    return repo


def _info(hub: "HubServer", request: Request, id: str, revision: str) -> Answer:
    if id in hub.renamed:
        target = request.path.replace(id, hub.renamed[id], 1)
        return Answer(status=307, headers={"Location": target})
    repo = _readable(hub, request, id)
    if isinstance(repo, Answer):
        return repo
    commit = repo.resolve(revision)
    if commit is None:
        return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    siblings = [_sibling(request, name, data) for name, data in repo.commits[commit].items()]
    info = {"id": repo.id, "sha": commit, "private": repo.private, "gated": repo.gated and "manual"}
    body = json.dumps({**info, "siblings": siblings, "tags": []}).encode()
    return Answer(headers={"Content-Type": "application/json"}, body=body)


def _tree(hub: "HubServer", request: Request, id: str, revision: str) -> Answer:
    """All files with their sizes."""
    repo = _readable(hub, request, id)
    if isinstance(repo, Answer):
        return repo
    commit = repo.resolve(revision)
    if commit is None:
        return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    files = [{"type": "file", "path": name, "size": len(data)} for name, data in repo.commits[commit].items()]
    return Answer(headers={"Content-Type": "application/json"}, body=json.dumps(files).encode())


def _sibling(request: Request, name: str, data: Data) -> dict[str, str | int]:
    sizes: dict[str, str | int] = {"size": len(data)} if "blobs=true" in urlsplit(request.path).query else {}
    return {"rfilename": name, **sizes}


def _resolve(hub: "HubServer", request: Request, id: str, revision: str, name: str) -> Answer:
    if id in hub.renamed:
        return Answer(status=307, headers={"Location": request.path.replace(id, hub.renamed[id], 1)})
    repo = _readable(hub, request, id)
    if isinstance(repo, Answer):
        return repo
    if repo.gated and id not in hub.tokens.get(request.token or "", ()):
        return refusal(401 if request.token is None else 403, "GatedRepo", f"Access to model {id} is restricted.")
    commit = repo.resolve(revision)
    if commit is None:
        return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    told = {"X-Repo-Commit": commit}
    data = repo.commits[commit].get(name)
    if data is None:
        return refusal(404, "EntryNotFound", "Entry not found", told)
    if name in repo.stored_apart:
        told |= {"X-Linked-Size": str(len(data)), "X-Linked-ETag": f'"{etag(data)}"'}
        location = f"{hub.cdn_url}/blobs/{etag(data)}?name={quote(name)}"
        return Answer(status=302, headers={**told, "Location": location})
    return _content(hub, request, data, told)


def _blob(hub: "HubServer", request: Request, wanted: str) -> Answer:
    for repo in hub.repos.values():
        for files in repo.commits.values():
            for data in files.values():
                if etag(data) == wanted:
                    return _content(hub, request, data, {})
    return Answer(status=404)


def _content(hub: "HubServer", request: Request, data: Data, headers: Mapping[str, str]) -> Answer:
    """The bytes, or the part of them that a Range header asks for."""
    told = {"ETag": f'"{etag(data)}"', "Content-Type": "application/octet-stream", **headers}
    asked = _RANGE.fullmatch(request.headers.get("range", "")) if hub.ranges else None
    if asked is None or asked[0] == "bytes=-":
        return Answer(headers=told, body=data)
    first, last = _bounds(asked, len(data))
    if first > last:
        return Answer(status=416, headers={**told, "Content-Range": f"bytes */{len(data)}"})
    told["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
    return Answer(status=206, headers=told, body=data[first : last + 1])


def _bounds(asked: re.Match[str], size: int) -> tuple[int, int]:
    if not asked[1]:
        return max(0, size - int(asked[2])), size - 1
    return int(asked[1]), min(int(asked[2] or size), size - 1)
