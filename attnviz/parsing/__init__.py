"""Tables as people paste them, from text to numbers; nothing is ever evaluated."""

from attnviz.core.numbers import Parsed, parse_number
from attnviz.parsing.block import Block, parse_block

__all__ = ["Block", "Parsed", "parse_block", "parse_number"]
