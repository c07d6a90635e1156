"""Generated inputs as in the core: the same in every run."""

from tests.core import conftest as conftest
