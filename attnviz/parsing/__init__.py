"""Tables as people paste them, from text to numbers; nothing is ever evaluated."""

from attnviz.core.numbers import Parsed, parse_number
from attnviz.parsing.block import Block, parse_block
from attnviz.parsing.lines import CommaError

__all__ = ["Block", "CommaError", "Parsed", "parse_block", "parse_number"]
