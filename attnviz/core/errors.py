"""Errors that say where something is wrong, what was expected, what came and what to do."""

from collections.abc import Mapping


class AttnvizError(Exception):
    """One clear sentence for a person, with its parts kept apart for the screen.

    Args:
        message: what is wrong, in one sentence.
        where: the place: table, row, column, file, field or stage.
        expected: what would have been accepted.
        got: what came instead.
        hint: what to do now.
    """

    def __init__(
        self, message: str, *, where: str = "", expected: str = "", got: str = "", hint: str = ""
    ) -> None:
        self.message = message
        self.where = where
        self.expected = expected
        self.got = got
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        details = [
            f"{word} {part}"
            for word, part in (("expected", self.expected), ("got", self.got))
            if part
        ]
        if details:
            text += f" ({', '.join(details)})"
        if not text.endswith((".", "?", "!")):
            text += "."
        return f"{text} {self.hint}".rstrip()

    def __reduce__(self) -> tuple[object, ...]:
        return (
            _rebuild,
            (type(self), self.message, self.where, self.expected, self.got, self.hint),
        )


def _rebuild(
    kind: type[AttnvizError], message: str, where: str, expected: str, got: str, hint: str
) -> AttnvizError:
    return kind(message, where=where, expected=expected, got=got, hint=hint)


class ShapeError(AttnvizError):
    """Arrays whose shapes do not fit together; the sentence names both."""


class NumberError(AttnvizError):
    """A cell or result that is no finite number."""


class LimitError(AttnvizError):
    """Something larger or smaller than the stated limit."""


class TextError(AttnvizError):
    """Text that gives no tokens, or an unknown tokenizer."""


class ScenarioError(AttnvizError):
    """A name or a choice that a scenario does not have."""


class FormatError(AttnvizError):
    """A text or file that is not in a form that can be read."""


def check_names(given: Mapping[str, object], names: list[str], what: str) -> None:
    """Refuse names that are not among those there are."""
    for name in given:
        if name not in names:
            raise ScenarioError(
                f"there is no such {what}", where=name, expected="one of " + ", ".join(names)
            )
