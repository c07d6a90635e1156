"""What a person gave that is not in use: a text that was refused, a file that is looked at."""

from dataclasses import dataclass

from attnviz.core import AttnvizError, LimitError, TextError
from attnviz.files.imports import Candidate, Found


@dataclass(frozen=True)
class Draft:
    """A text that was refused: as it was typed, why, and which one of `Scenario`."""

    text: str
    error: AttnvizError
    field: str = "text"

    @property
    def hint(self) -> bool:
        """Whether it is no mistake, only nothing yet."""
        return isinstance(self.error, TextError)

    @property
    def too_long(self) -> bool:
        """Whether its beginning could be taken."""
        return isinstance(self.error, LimitError)


@dataclass(frozen=True)
class Upload:
    """A file with tables: its name, what is in it, and the layers that were recognised."""

    name: str
    found: Found
    layers: tuple[Candidate, ...]
