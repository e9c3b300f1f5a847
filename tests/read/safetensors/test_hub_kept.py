"""What was read of headers is kept, and a sample reads few."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from fse_core.read.safetensors.facts import Headers
from fse_core.read.safetensors.names import LayerName
from fse_core.read.safetensors.store import FolderStore
from tests.hub_server import Hollow, HubServer
from tests.read.safetensors.reading import ONE, TOKEN, A, add, read, unreadable
from tests.safetensors_files import INDEX, deepseek, file, index, sharded


class TestStore:
    """What was read once is not asked for again."""

    def files(self) -> Mapping[str, Hollow | bytes]:
        return {ONE: file(A), INDEX: index(dict.fromkeys(A, ONE), 2**31)}

    def test_everything_of_a_commit_is_kept(
        self, hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commit, store = add(hub, self.files()), FolderStore(tmp_path / "headers")
        first = read(commit, store=store)
        hub.requests.clear()
        assert read(commit, store=store) == first
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        assert read(commit, store=store) == first
        assert hub.requests == []

    def test_another_commit_is_another_matter(self, hub: HubServer, tmp_path: Path) -> None:
        commit, store = add(hub, self.files()), FolderStore(tmp_path / "headers")
        read(commit, store=store)
        newer = hub.repos["org/name"].push({ONE: file({"new": ("U8", (1,))})})
        assert set(read(newer, store=store).tensors) == {"new"}

    @pytest.mark.parametrize("damage", [b"", b"\0", b"x\x9c damaged", None])
    def test_what_was_damaged_is_read_anew(self, hub: HubServer, tmp_path: Path, damage: bytes | None) -> None:
        commit, store = add(hub, self.files()), FolderStore(tmp_path / "headers")
        first = read(commit, store=store)
        for path in (tmp_path / "headers").glob("*/*"):
            path.write_bytes(path.read_bytes()[:-3] if damage is None else damage)
        assert read(commit, store=store) == first

    def test_sound_bytes_of_something_else_are_read_anew(self, hub: HubServer, tmp_path: Path) -> None:
        commit = add(hub, self.files())

        class Wrong(FolderStore):
            def get(self, key: str) -> bytes | None:
                return b"[3]"

        assert read(commit, store=Wrong(tmp_path)) == read(commit)

    def test_a_folder_that_cannot_be_written(self, hub: HubServer, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert read(add(hub, self.files()), store=FolderStore(tmp_path / "file" / "headers")).problems == ()

    def test_a_damaged_file_of_the_hub_is_not_kept(self, hub: HubServer, tmp_path: Path) -> None:
        commit, store = add(hub, {ONE: b"no header at all"}), FolderStore(tmp_path / "headers")
        unreadable(read(commit, store=store))
        assert len(list((tmp_path / "headers").glob("*/*"))) == 1  # the list of files

    def test_no_token_is_kept(self, hub: HubServer, tmp_path: Path) -> None:
        hub.tokens[TOKEN] = {"org/name"}
        read(add(hub, self.files(), private=True), token=TOKEN, store=FolderStore(tmp_path / "headers"))
        assert not any(TOKEN.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


class TestSample:
    """As little as shows one layer of each kind."""

    KINDS = (tuple(LayerName(number=n) for n in range(3, 24)), (LayerName(number=24, drafts=(24, 0)),))

    @pytest.fixture
    def _large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An index of any size is too large."""
        monkeypatch.setattr("fse_core.read.safetensors.collect._MOST_FOR_SAMPLE", 0)

    def large(self, order: str) -> dict[str, Hollow | bytes]:
        tensors = deepseek(range(25), 24)
        if order == "text":
            tensors = dict(sorted(tensors.items()))
        return sharded(tensors, 60)

    def test_by_the_index_where_it_is_small(self, hub: HubServer) -> None:
        tensors = deepseek(range(25), 8)
        found = read(add(hub, sharded(tensors, 30)), kinds=self.KINDS)
        assert found.listed is not None
        assert len(found.files) <= 4
        assert not found.complete
        assert found.problems == ()
        self.require_both(found)

    @pytest.mark.usefixtures("_large")
    @pytest.mark.parametrize("order", ["number", "text"])
    def test_by_the_headers_where_the_index_is_large(self, hub: HubServer, order: str) -> None:
        files = self.large(order)
        found = read(add(hub, files), kinds=self.KINDS)
        assert not any(INDEX in line for line in hub.asked())
        assert len(hub.requests) < 25
        self.require_both(found)

    @pytest.mark.usefixtures("_large")
    def test_by_the_index_after_all_where_files_follow_no_order(self, hub: HubServer) -> None:
        names = list(deepseek(range(25), 24).items())
        random.Random(5).shuffle(names)
        experts = [item for item in names if "layers.24.mlp" not in item[0]]
        last = [item for item in names if "layers.24.mlp" in item[0]]
        found = read(add(hub, sharded(dict(experts[:700] + last + experts[700:]), 60)), kinds=self.KINDS)
        self.require_both(found)

    @pytest.mark.usefixtures("_large")
    def test_a_layer_that_nobody_has(self, hub: HubServer) -> None:
        found = read(add(hub, self.large("number")), kinds=(self.KINDS[0], (LayerName(number=99, drafts=(99, 0)),)))
        assert any(INDEX in line for line in hub.asked())
        assert found.by_head

    def require_both(self, found: Headers) -> None:
        both = {
            head for head, members in found.by_head.items() if {role.shared for role, _ in members} == {True, False}
        }
        assert "model.layers.24" in both
        assert len(both) >= 2
