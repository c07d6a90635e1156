"""What a table editor in the browser was given, and what is new in what it reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.core.arrays import Array
from attnviz.core.numbers import number_text

Typed = dict[tuple[int, str], str | None]  # (row position, column name) -> text


@dataclass
class Editor:
    """One table editor on the page.

    The browser keeps what was typed over the base that it was given, and asks for another run
    when a base already holds it. So an editor keeps the base that it began with.

    Args:
        base: the table as the editor was given it, rows and columns as on the screen.
        columns: the names of its columns.
        table, head: which table; head is None where it has none.
        title: how it is called in a sentence.
        columns_first: whether it is shown with rows and columns exchanged.
        typed: what was typed over the base and has been dealt with.
    """

    base: Array
    columns: tuple[str, ...]
    table: str = ""
    head: int | None = None
    title: str = ""
    columns_first: bool = False
    typed: Typed = field(default_factory=dict)

    def fresh(
        self, edited_rows: Mapping[Any, Mapping[str, Any]]
    ) -> dict[int | str, dict[str, Any]]:
        """What is new in what the browser reports; a cell set back is left out of its report."""
        now: Typed = {
            (int(row), name): text
            for row, cells in edited_rows.items()
            for name, text in cells.items()
        }
        new: Typed = {at: text for at, text in now.items() if self.typed.get(at, self) != text}
        for row, name in self.typed.keys() - now.keys():
            new[row, name] = number_text(self.base[row, self.columns.index(name)])
        self.typed = now
        rows: dict[int | str, dict[str, Any]] = {}
        for (row, name), text in new.items():
            rows.setdefault(row, {})[name] = text
        return rows
