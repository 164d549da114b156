"""Archives of packages, by exact file name, from the index that pip is configured to use.

`pip download` would do for wheels, but for a source archive it runs the package's own build code to learn its metadata.
So we ask pip only for its settings, look the file up in the index's plain page (PEP 503) and fetch it. Nothing of a
package is ever executed.
"""

import ast
import base64
import hashlib
import os
import re
import ssl
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from tqdm import tqdm

from actonym.errors import ActonymError

TIMEOUT = 60  # seconds without a byte
BLOCK = 1 << 20


@dataclass(frozen=True)
class Index:
    """The indexes to ask, in order, and how to reach them."""

    addresses: tuple[str, ...]
    certificate: str | None = None
    proxy: str | None = None

    def opener(self) -> OpenerDirector:
        context = ssl.create_default_context(cafile=self.certificate)
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else None
        return build_opener(HTTPSHandler(context=context), ProxyHandler(proxies))


def configured() -> Index:
    """What pip would use here: its configuration files, its environment variables, its default."""
    settings = _pip_settings(_pip("config", "list"))
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        raise ActonymError("pip is told to use no index (no-index)")
    default = settings.get("index-url") or _default_index(_pip("download", "--help"))
    addresses = (default, *settings.get("extra-index-url", "").split())
    return Index(addresses, settings.get("cert"), settings.get("proxy"))


def fetch(package: str, archive: str, sha256: str, folder: Path, index: Index | None = None) -> Path:
    """The archive, checked, in `folder`. A download that was broken off goes on where it was."""
    target, part = folder / archive, folder / f"{archive}.part"
    if target.is_file() and digest(target) == sha256:
        return target
    index = index or configured()
    opener = index.opener()
    address = _find(opener, index.addresses, package, archive)
    resumed = part.is_file() and part.stat().st_size > 0
    _download(opener, address, part)
    if digest(part) != sha256 and resumed:  # what was there before was no beginning of this file
        part.unlink()
        _download(opener, address, part)
    if digest(part) != sha256:
        part.unlink()
        raise ActonymError(f"{archive} from {_shown(address)} has a wrong SHA-256; it was refused and removed")
    os.replace(part, target)
    return target


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _find(opener: OpenerDirector, addresses: tuple[str, ...], package: str, archive: str) -> str:
    """The address of the archive, from the first index that has it."""
    tried = []
    for address in addresses:
        page = f"{address.rstrip('/')}/{package}/"
        try:
            with _open(opener, page + "index.html" if page.startswith("file:") else page) as response:
                links = _links(response.read().decode("utf-8", "replace"))
                base = response.geturl()
        except (OSError, HTTPException) as error:
            tried.append(f"{_shown(page)} ({_reason(error)})")
            continue
        for link in links:
            found = urldefrag(urljoin(base, link)).url
            if unquote(urlsplit(found).path).rsplit("/", 1)[-1] == archive:
                return _with_login(found, address)
        tried.append(f"{_shown(page)} (no {archive} there)")
    raise ActonymError(f"could not find {archive}; tried {', '.join(tried)}")


def _download(opener: OpenerDirector, address: str, part: Path) -> None:
    """Fetch into `part`, after what is there already if the server can."""
    have = part.stat().st_size if part.is_file() else 0
    name = part.name.removesuffix(".part")
    try:
        with _open(opener, address, {"Range": f"bytes={have}-"} if have else {}) as response:
            goes_on = have and response.status == 206
            have = have if goes_on else 0
            length = response.headers.get("Content-Length")
            total = have + int(length) if length else None
            bar = tqdm(desc=name, initial=have, total=total, unit="B", unit_scale=True, leave=False)
            with bar, part.open("ab" if goes_on else "wb") as file:
                while block := response.read(BLOCK):
                    file.write(block)
                    bar.update(len(block))
    except HTTPError as error:
        if error.code == 416:  # nothing is left to fetch; the hash tells whether it is the right file
            return
        raise ActonymError(f"could not fetch {name} from {_shown(address)}: {_reason(error)}") from error
    except (OSError, HTTPException) as error:
        raise ActonymError(f"could not fetch {name} from {_shown(address)}: {_reason(error)}") from error
    if total is not None and part.stat().st_size < total:
        raise ActonymError(f"{name} broke off after {part.stat().st_size} of {total} bytes; pull again to go on")


def _open(opener: OpenerDirector, address: str, headers: dict[str, str] | None = None) -> Any:
    """Open an address; a name and password in it go into a header, which is not passed on to other hosts."""
    parts = urlsplit(address)
    login, _, host = parts.netloc.rpartition("@")
    request = Request(urlunsplit(parts._replace(netloc=host)), headers={"Accept": "text/html, */*", **(headers or {})})
    if login:
        coded = base64.b64encode(unquote(login).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {coded}")
    return opener.open(request, timeout=TIMEOUT)


def _with_login(address: str, index: str) -> str:
    """Files on the index's own host need its login too."""
    login, _, host = urlsplit(index).netloc.rpartition("@")
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=f"{login}@{host}")) if login and parts.netloc == host else address


def _shown(address: str) -> str:
    """An address without its name and password."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error) or type(error).__name__


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for key, value in attributes if tag == "a" and key == "href" and value]


def _links(page: str) -> list[str]:
    parser = _Links()
    parser.feed(page)
    return parser.found


def _pip(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words], capture_output=True, text=True, env={**os.environ, "COLUMNS": "500"}
    )
    if done.returncode:
        raise ActonymError("pip, which knows the package index, does not run in this Python")
    return done.stdout


def _pip_settings(listed: str) -> dict[str, str]:
    """Settings from `pip config list`. Its own verb goes before all verbs, the environment before files."""
    found: dict[str, dict[str, str]] = {"global": {}, "download": {}, ":env:": {}}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in found:
            found[section][name] = str(ast.literal_eval(value))
    return {**found["global"], **found["download"], **found[":env:"]}


def _default_index(text: str) -> str:
    """pip's default index, which only its help text tells."""
    found = re.search(r"--index-url.*?\(default:?\s+(\S+?)\)", text, re.DOTALL)
    if not found:
        raise ActonymError("could not learn the package index from pip; set PIP_INDEX_URL")
    return found.group(1)
