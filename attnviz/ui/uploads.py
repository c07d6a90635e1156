"""Files that a person gives: a saved state, or tables from elsewhere."""

from attnviz.core import AttnvizError
from attnviz.files import from_json, imports
from attnviz.ui import state
from attnviz.ui.held import Upload


def _uploaded(key: str) -> tuple[str, bytes] | None:
    """Name and bytes of the file that was given to a field, which then begins anew."""
    file, now = state.setting(key), state.session()
    if file is None:
        return None
    now.quiet()
    now.uploads += 1
    return str(file.name), file.getvalue()


def open_file(key: str) -> None:
    """Go on with a saved scenario; a file that is none leaves all as it is."""
    uploaded = _uploaded(key)
    if uploaded:
        name, data = uploaded
        state.change(lambda _: (from_json(data, name[:80]), f"Opened {name[:80]}."))


def import_file(key: str) -> None:
    """Look at the tables of a file."""
    uploaded, now = _uploaded(key), state.session()
    if uploaded:
        name, data = uploaded
        try:
            found = imports.read(name, data)
            now.found = Upload(name[:80], found, imports.recognise(found.arrays))
        except AttnvizError as error:
            now.refused = str(error)


def discard() -> None:
    """Let go of the file whose tables are looked at."""
    state.session().found = None
