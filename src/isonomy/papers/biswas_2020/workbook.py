"""A spreadsheet read with the standard library: cell values of one sheet, nothing else."""

import io
import re
import zipfile
from xml.etree import ElementTree as ET

from isonomy._validate import unknown_name
from isonomy.errors import InputError

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL = re.compile(r"^([A-Z]+)(\d+)$")


def read_sheet(content: bytes, sheet: str) -> dict[int, dict[str, str | float]]:
    """Return ``{row: {column letter: value}}`` for the cells of a sheet that are not empty.

    The value of a formula is the one last stored for it.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        book = ET.fromstring(archive.read("xl/workbook.xml"))
        links = ET.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (zipfile.BadZipFile, KeyError, ET.ParseError) as error:
        raise InputError(
            f"A spreadsheet must be an .xlsx file; it cannot be read: {error}."
        ) from None
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    sheets = {s.get("name", ""): targets[s.get(_LINK)] for s in book.iter(f"{_MAIN}sheet")}
    if sheet not in sheets:
        raise unknown_name("sheet", sheet, list(sheets))
    texts: list[str] = []
    if "xl/sharedStrings.xml" in archive.namelist():
        shared = ET.fromstring(archive.read("xl/sharedStrings.xml"))
        texts = [
            "".join(part.text or "" for part in item.iter(f"{_MAIN}t"))
            for item in shared.iter(f"{_MAIN}si")
        ]
    target = sheets[sheet].lstrip("/")
    page = archive.read(target if target.startswith("xl/") else f"xl/{target}")
    rows: dict[int, dict[str, str | float]] = {}
    for cell in ET.fromstring(page).iter(f"{_MAIN}c"):
        place, value = _CELL.match(cell.get("r", "")), cell.find(f"{_MAIN}v")
        if place is not None and value is not None and value.text is not None:
            kind = cell.get("t", "n")
            stored: str | float = value.text
            if kind == "s":
                stored = texts[int(value.text)]
            elif kind == "n":
                stored = float(value.text)
            rows.setdefault(int(place[2]), {})[place[1]] = stored
    return rows
