"""The web page as one file: the built page together with the responses of a server, in gzipped chunks.

The file loads nothing from elsewhere: it contains style and script, and its Content-Security-Policy allows these two (by
their hashes) and nothing else. The page unpacks a chunk when it needs one of its documents (`ui/src/data/fileSource.ts`).
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from proctor.common.safe_text import clean_json
from proctor.errors import SetupError
from proctor.reports.formats.json_text import json_line
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.built_page import HOW_TO_BUILD_THE_PAGE, page_folder

_CHUNK = 1_000_000
"""Characters of JSON after which a chunk is closed."""
_GZIP = 31
"""The format of zlib that is a gzip file."""
_SCREENS = frozenset({"/compare", "/matrix", "/history", "/judges"})
"""Optional screens of a file besides runs and cases; their addresses are those of the API without `/api`."""
_SCRIPT = re.compile(r'<script type="module"[^>]* src="/?([^"]+)"></script>')
_STYLE = re.compile(r'<link rel="stylesheet"[^>]* href="/?([^"]+)">')


@dataclass(frozen=True, slots=True)
class BuiltPage:
    """The built page in two parts, with the data of the file between them."""

    head: str
    """The part before the data."""
    tail: str


def read_page() -> BuiltPage:
    """Read the built page.

    Raises:
        SetupError: it is not built.
    """
    folder = page_folder()
    try:
        index = (folder / "index.html").read_text("utf-8")
    except OSError as error:
        raise SetupError(
            f"the report html needs the web page, which is not built here. {HOW_TO_BUILD_THE_PAGE}"
        ) from error
    script, index = _extract_asset(folder, _SCRIPT, index)
    style, index = _extract_asset(folder, _STYLE, index)
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    head, body = index.split("</head>", 1)
    head = head.replace("<head>", f"<head>\n    {meta}", 1)  # before the elements to which it applies
    body, end = body.rsplit("</body>", 1)
    return BuiltPage(
        f"{head}<style>{style}</style></head>{body}",
        f'<script type="module">{script}</script>{_licences(folder)}</body>{end}',
    )


def _licences(folder: Path) -> str:
    """Return the licences of the third-party code in the script, as a comment."""
    file = folder / "licenses.md"
    return f"<!--\n{file.read_text('utf-8').replace('--', '- -')}\n-->" if file.is_file() else ""


def _extract_asset(folder: Path, pattern: re.Pattern[str], index: str) -> tuple[str, str]:
    element = pattern.search(index)
    if element is None:
        raise SetupError(
            f"{folder / 'index.html'} does not fit this version: build the page again with `make ui`"
        )
    return (folder / element[1]).read_text("utf-8"), index.replace(element[0], "", 1)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class CompressedText:
    """A long text that is written in pieces, and is compressed in memory."""

    def __init__(self, pieces: Iterable[str] = ()) -> None:
        """`pieces`: the first of the text."""
        self.size = 0
        """Characters so far."""
        self._packer = zlib.compressobj(1)
        self._packed: list[bytes] = []
        for piece in pieces:
            self.write(piece)

    def write(self, text: str) -> None:
        """Append a piece."""
        self.size += len(text)
        if packed := self._packer.compress(text.encode()):
            self._packed.append(packed)

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces, once; nothing is written afterwards."""
        unpacker, decoder = zlib.decompressobj(), codecs.getincrementaldecoder("utf-8")()
        for packed in [*self._packed, self._packer.flush()]:
            yield decoder.decode(unpacker.decompress(packed))


class _Chunk:
    """Documents in the file as gzip (without a time) in Base64; each piece is compressed and written at once."""

    def __init__(self, out: TextIO, number: int) -> None:
        self.size = 0
        """Characters so far, without compression."""
        self._out = out
        self._packer = zlib.compressobj(6, wbits=_GZIP)
        self._packed = b""
        out.write(f'<script type="text/plain" id="proctor-chunk-{number}">')

    def write(self, piece: str) -> None:
        """Append a piece of JSON."""
        self.size += len(piece)
        packed = self._packed + self._packer.compress(piece.encode())
        whole = len(packed) - len(packed) % 3  # Base64 writes three bytes as four characters
        self._out.write(base64.b64encode(packed[:whole]).decode())
        self._packed = packed[whole:]

    def close(self) -> None:
        """Write the end."""
        self._out.write(base64.b64encode(self._packed + self._packer.flush()).decode())
        self._out.write("</script>\n")


@dataclass(slots=True)
class SingleFileWriter:
    """Writes the page with its documents: `add_initial` those that the page needs at once, `add` the others, in chunks."""

    page: BuiltPage
    out: TextIO
    start: str
    """The address of the first screen: `/runs/RUN`."""
    documents: dict[str, Iterable[str]] = field(default_factory=dict)
    """The JSON of the documents that the page needs at once, in pieces."""
    places: dict[str, str] = field(default_factory=dict)
    """The start address of each of `_SCREENS` that the file contains."""
    _paths: set[str] = field(default_factory=set)
    """The paths in chunks that may be added twice: those with a query."""
    _index: CompressedText = field(default_factory=CompressedText)
    """The JSON of the paths in chunks, each with the number of its chunk."""
    _chunk: _Chunk | None = None
    """The chunk to which documents are added, once there is one."""
    _chunks: int = 1

    def begin(self) -> None:
        """Write the part before the data."""
        self.out.write(self.page.head)

    def add_initial(self, path: str, document: PageModel) -> None:
        """Add a document that the page needs at once."""
        self.add_initial_json(path, [page_json(document)])

    def add_initial_json(self, path: str, document: Iterable[str]) -> None:
        """Add a document that the page needs at once, as pieces of JSON, which are read once, by `end`."""
        self._note_screen(path)
        self.documents[path] = document

    def add(self, path: str, document: PageModel | Iterable[str]) -> None:
        """Add a document, or the pieces of its JSON, to a chunk, which the page reads on demand; a path with a query that the file already has is skipped."""
        if path in self._paths or path in self.documents:
            return
        if "?" in path:
            self._paths.add(path)
        self._note_screen(path)
        name = json.dumps(path)
        self._index.write(f"{', ' if self._index.size else ''}{name}: {self._chunks}")
        head = f",{name}:"
        if self._chunk is None:
            self._chunk, head = _Chunk(self.out, self._chunks), f"{{{name}:"
        self._chunk.write(head)
        for piece in json_pieces(document):
            self._chunk.write(piece)
        if self._chunk.size >= _CHUNK:
            self._close_chunk()

    def _note_screen(self, path: str) -> None:
        address = path.removeprefix("/api")
        if (screen := address.partition("?")[0]) in _SCREENS:
            self.places.setdefault(screen, address)

    def _close_chunk(self) -> None:
        if self._chunk is not None:
            self._chunk.write("}")
            self._chunk.close()
            self._chunk = None
            self._chunks += 1

    def end(self) -> None:
        """Write the last chunk, and the page's script."""
        self._close_chunk()
        first = _Chunk(self.out, 0)
        for piece in self._initial():
            first.write(piece)
        first.close()
        settings = {"start": self.start, "chunks": self._chunks, "places": self.places}
        head = json.dumps(settings).replace("<", "\\u003c")
        self.out.write(f'<script type="application/json" id="proctor-file">{head}</script>\n')
        self.out.write(self.page.tail)

    def _initial(self) -> Iterator[str]:
        """Yield the JSON of the first chunk in pieces: it may be as large as all others together."""
        yield '{"documents": {'
        for number, (path, document) in enumerate(self.documents.items()):
            yield f"{', ' if number else ''}{json.dumps(path)}: "
            yield from document
        yield '}, "where": {'
        yield from self._index.pieces()
        yield "}}"


def json_pieces(document: PageModel | Iterable[str]) -> Iterable[str]:
    """Return the JSON of a document in pieces."""
    return [page_json(document)] if isinstance(document, PageModel) else document


def page_json(document: PageModel, exclude: set[str] | None = None) -> str:
    """Return the JSON of a page's document as it is in the file, without the fields `exclude`."""
    try:
        return document.model_dump_json(exclude=exclude)
    except ValueError:  # pydantic writes no half of a character (a lone surrogate): it becomes U+FFFD
        return clean_json(json_line(document.model_dump(mode="json", exclude=exclude))[0])
