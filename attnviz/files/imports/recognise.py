"""Which tables of a file belong to one attention layer, and how they become `Params`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.core.arrays import Array, as_floats
from attnviz.core.config import CHOICES, Config
from attnviz.core.errors import ScenarioError, ShapeError
from attnviz.core.follow import follow_sizes
from attnviz.core.model import MAX_HEADS, Params
from attnviz.core.scenario import Scenario
from attnviz.files.imports.families import FAMILIES, Family
from attnviz.files.imports.limits import natural

_USUAL_WIDTH = 64  # columns of a head in most models
_INPUTS = re.compile(
    r"(^|\.)(x|context|embeddings?|(wte|wpe|embed_tokens|word_embeddings|position_embeddings|tokens?"
    r"_embeddings?)(\.weight)?)$",
    re.IGNORECASE,
)
Raw = NDArray[Any]


@dataclass(frozen=True)
class Candidate:
    """One attention layer of a file.

    Args:
        family: how it is stored.
        prefix: what its names have in common.
        names: role -> name in the file.
        arrays: role -> table as it is stored.
        left_out: names beside these that belong to the layer and are not used.
        norms: the lengths of the norms among these; that of q_norm is the width of a head.
        transposed: whether tables are taken the other way round than this family stores them.
    """

    family: Family
    prefix: str
    names: Mapping[str, str]
    arrays: Mapping[str, Raw]
    left_out: tuple[str, ...] = ()
    norms: Mapping[str, int] = field(default_factory=dict)
    transposed: bool = False

    def turned(self) -> "Candidate":
        """The same with its tables taken the other way round."""
        return replace(self, transposed=not self.transposed)

    @property
    def title(self) -> str:
        """'BERT, layer 3 (encoder.layer.3.attention)'; layers as the file counts them."""
        numbers = re.findall(r"(?:^|\.)(\d+)(?=\.|$)", self.prefix)
        layer = f", layer {numbers[0]}" if numbers else ""
        at = f" ({self.prefix.rstrip('.')})" if self.prefix else ""
        return f"{self.family.label}{layer}{at}"

    @property
    def n_heads(self) -> int | None:
        """How many heads it has, where the tables say so."""
        if self.family.layout == "kernel":
            return int(self.arrays["q"].shape[1])
        if self.family.layout == "heads" and self.arrays["q"].ndim == 3:
            return len(self.arrays["q"])
        norm = next((n for n in self.left_out if n.endswith("q_norm.weight")), None)
        width = self.norms.get(norm or "")
        return self.q_width // width if width and self.q_width % width == 0 else None

    @property
    def q_width(self) -> int:
        """The number of columns of the queries of all heads."""
        if "qkv" in self.arrays:
            return max(self._q_columns(self._outs(self.arrays["qkv"])), 1)
        q = self.arrays["q"]
        return self._outs(q) if q.ndim == 2 else int(q.shape[-1] * q.shape[self._head_axis])

    def _q_columns(self, total: int) -> int:
        """How many of the columns of q, k and v in one table are those of q."""
        out = self.arrays.get("o")
        wide = self._ins(out) if out is not None and self.family.packing == "grouped" else 0
        return wide if 0 < wide < total else total // 3

    @property
    def _outputs_first(self) -> bool:
        return (self.family.layout == "out_in") != self.transposed

    @property
    def _head_axis(self) -> int:
        return 1 if self.family.layout == "kernel" else 0

    def _outs(self, table: Raw) -> int:
        return int(table.shape[0 if self._outputs_first else -1])

    def _ins(self, table: Raw) -> int:
        return int(table.shape[-1 if self._outputs_first else 0])

    def head_counts(self) -> tuple[int, ...]:
        """The numbers of heads that the width of the queries allows."""
        if self.n_heads:
            return (self.n_heads,)
        width = self.q_width
        return tuple(n for n in range(1, min(MAX_HEADS, width) + 1) if width % n == 0)

    def usual_heads(self) -> int:
        """The number to begin with: that of the tables, else heads of 64 columns, else one."""
        if self.n_heads:
            return self.n_heads
        n = self.q_width // _USUAL_WIDTH
        return n if n in self.head_counts() else 1

    def assumed(self, n_heads: int | None = None) -> tuple[str, ...]:
        """Sentences on what the tables do not say and was taken for granted."""
        found = []
        n = n_heads or self.usual_heads()
        if self.n_heads is None:
            found.append(
                f"The file does not say how many heads there are; {n} of {self.q_width // n} "
                "columns each were taken."
            )
        if self.arrays.get("q", self.arrays.get("qkv", np.zeros(0))).ndim == 2:
            rule = "(in, out), used as x · W + b"
            if self._outputs_first:
                rule = "(out, in), used as x · Wᵀ + b"
            found.append(f"Tables are {rule}.")
            squares = [t for r, t in self.arrays.items() if t.ndim == 2 and len(set(t.shape)) == 1]
            if squares:
                found.append("Square tables cannot show whether they are transposed.")
        if self.family.says:
            found.append(self.family.says)
        if self.left_out:
            found.append(f"Left out: {', '.join(n[len(self.prefix) :] for n in self.left_out)}.")
        return tuple(found)

    def shapes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The names that were found with the shapes that they are stored in."""
        return tuple((self.names[role], table.shape) for role, table in self.arrays.items())

    def params(self, n_heads: int | None = None) -> Params:
        """The tables as attnviz has them.

        Args:
            n_heads: the number of query heads; `usual_heads` without.

        Raises:
            ShapeError: tables that do not fit together or into so many heads; it names both.
            LimitError: larger than attnviz can hold.
            NumberError: a cell that is no finite number.
        """
        n = n_heads or self.usual_heads()
        if n not in self.head_counts():
            near = min(self.head_counts(), key=lambda count: abs(count - n))
            raise ShapeError(
                f"{n} heads do not divide its {self.q_width} columns",
                where=self.names.get("q", self.names.get("qkv", "")),
                expected=", ".join(map(str, self.head_counts())),
                hint=f"The nearest number that does is {near}.",
            )
        if self.family.layout in ("kernel", "heads") and self.arrays["q"].ndim == 3:
            tables = self._by_heads()
        else:
            tables = self._split(n)
        params = Params(**tables)
        _ = params.sizes  # within the limits
        return params

    def _by_heads(self) -> dict[str, Array]:
        tables: dict[str, Array] = {}
        table: Raw
        kernel = self.family.layout == "kernel"
        for role, stored in self.arrays.items():
            name = role if role.startswith("b_") else f"w_{role}"
            table = stored
            if kernel and role in "qkv":
                table = stored.transpose(1, 0, 2)
            elif kernel and role == "o":
                table = stored.reshape(-1, stored.shape[-1])
            tables[name] = as_floats(table, self.names[role], table.ndim)
        return tables

    def _check_ndim(self, role: str, ndim: int) -> None:
        if self.arrays[role].ndim != ndim:
            raise ShapeError(
                "wrong number of axes",
                where=self.names[role],
                expected=str(ndim),
                got=f"shape {self.arrays[role].shape}",
            )

    def _split(self, n: int) -> dict[str, Array]:
        """Tables for all heads at once -> one for each head; columns are head-major."""
        flat: dict[str, Raw] = {}
        for role, stored in self.arrays.items():
            self._check_ndim(role, 1 if role.startswith("b_") else 2)
            flat[role] = stored.T if self._outputs_first and stored.ndim == 2 else stored
        out = flat.get("o")
        for role in ("qkv", "b_qkv"):
            if role in flat:
                flat |= self._unpacked(role, flat.pop(role), n)
        d_k = flat["q"].shape[1] // n
        kv_heads = self._heads("k", flat["k"], d_k)
        if flat["v"].shape[1] % kv_heads:
            self._misfit("v", "k")
        tables: dict[str, Raw] = {
            f"w_{role}": flat[role].reshape(len(flat[role]), count, -1).transpose(1, 0, 2)
            for role, count in (("q", n), ("k", kv_heads), ("v", kv_heads))
        }
        for role, count in (("q", n), ("k", kv_heads), ("v", kv_heads)):
            bias = flat.get(f"b_{role}")
            if bias is not None:
                if bias.shape != flat[role].shape[1:]:
                    self._misfit(f"b_{role}", role)
                tables[f"b_{role}"] = bias.reshape(count, -1)
        if out is not None:
            if len(out) != n * tables["w_v"].shape[2]:
                self._misfit("o", "v")
            tables["w_o"] = out
            if "b_o" in flat:
                tables["b_o"] = flat["b_o"]
        return {name: as_floats(table, name, table.ndim) for name, table in tables.items()}

    def _heads(self, role: str, table: Raw, width: int) -> int:
        if width == 0 or table.shape[1] % width:
            self._misfit(role, "q")
        return int(table.shape[1] // width)

    def _misfit(self, role: str, other: str) -> None:
        a, b = (r if r in self.arrays else r.replace(r[-1], "qkv") for r in (role, other))
        if a == b:  # parts of one table, which was cut as another table says
            a = "o"
        raise ShapeError(
            f"does not fit to {self.names[b]} of shape {self.arrays[b].shape}",
            where=self.names[a],
            got=f"shape {self.arrays[a].shape}",
        )

    def _unpacked(self, role: str, table: Raw, n: int) -> dict[str, Raw]:
        """q, k and v of one table, by its last axis."""
        start, total = role.removesuffix("qkv"), table.shape[-1]
        per_head, grouped = (self.family.packing == kind for kind in ("per_head", "grouped"))
        wide = self._q_columns(total)
        narrow = (total - wide) // 2
        even = narrow == wide or (grouped and narrow > 0)
        if not even or wide + 2 * narrow != total or (per_head and total % (3 * n)):
            if grouped and "o" in self.arrays:
                self._misfit("o", role)
            raise ShapeError(
                "it cannot be cut into queries, keys and values",
                where=self.names[role],
                expected=f"a length that is a multiple of {3 * n if per_head else 3}",
                got=f"{total} in shape {self.arrays[role].shape}",
            )
        if per_head:
            parts = table.reshape(*table.shape[:-1], n, 3, -1)
            named = zip("qkv", np.moveaxis(parts, -2, 0), strict=True)
            return {f"{start}{r}": part.reshape(*table.shape[:-1], -1) for r, part in named}
        cuts = np.split(table, [wide, wide + narrow], axis=-1)
        return {f"{start}{r}": part for r, part in zip("qkv", cuts, strict=True)}


def recognise(arrays: Mapping[str, Raw]) -> tuple[Candidate, ...]:
    """Arrays of a file -> its attention layers, layer 2 before layer 10; none if unknown."""
    plain = {name.replace("/", "."): name for name in arrays}
    matches = [
        (family, prefix, {r: prefix + n for r, n in family.names.items() if prefix + n in plain})
        for family in FAMILIES
        for prefix in _prefixes(plain, family.names.get("qkv") or family.names["q"], family)
    ]
    matches.sort(key=lambda match: -len(match[2]))  # what explains most names goes first
    taken: set[str] = set()
    found: dict[str, Candidate] = {}
    for family, prefix, roles in matches:
        whole = {"qkv"} <= roles.keys() or {"q", "k", "v"} <= roles.keys()
        tables = {role: arrays[plain[name]] for role, name in roles.items()}
        if not whole or taken & set(roles.values()) or not _right_axes(family, tables):
            continue
        taken |= set(roles.values())
        named = bool(prefix) or family.layout != "heads"
        beside = [n for n in plain if named and n.startswith(prefix) and n not in roles.values()]
        norms = {n: arrays[plain[n]].size for n in beside if n.endswith("norm.weight")}
        names = {role: plain[name] for role, name in roles.items()}
        first = roles.get("qkv") or roles["q"]
        found[first] = Candidate(family, prefix, names, tables, tuple(beside), norms)
    return tuple(found[name] for name in sorted(found, key=natural))


def _prefixes(names: Mapping[str, str], anchor: str, family: Family) -> Iterator[str]:
    for name in names:
        prefix = name.removesuffix(anchor)
        whole_words = len(prefix) < len(name) and prefix[-1:] in ("", ".")
        if whole_words and re.search(family.prefix, prefix):
            yield prefix


def _right_axes(family: Family, arrays: Mapping[str, Raw]) -> bool:
    """Whether each table has as many axes as this way of storing has, and something in it."""
    allowed: dict[bool, tuple[int, ...]] = {True: (1,), False: (2,)}
    if family.layout in ("kernel", "heads"):
        allowed = {True: (1, 2), False: (3,) if family.layout == "kernel" else (2, 3)}
    return all(a.size and a.ndim in allowed[r.startswith("b_")] for r, a in arrays.items())


def inputs(arrays: Mapping[str, Raw]) -> tuple[str, ...]:
    """The names of tables that may be embeddings or positions, a row for each token or place."""
    return tuple(
        n for n, a in arrays.items() if a.ndim == 2 and _INPUTS.search(n.replace("/", "."))
    )


def applied(scenario: Scenario, candidate: Candidate, params: Params) -> tuple[Scenario, str]:
    """The scenario with imported tables and what goes with them, and a sentence on it.

    Raises:
        ScenarioError: keys and values of another width, and no second text that has it.
    """
    sizes = params.sizes
    if sizes.d_context is not None and scenario.context_text is None:
        raise ScenarioError(
            "its keys are made of embeddings of another width",
            where=candidate.title,
            expected=f"width {sizes.d_model}",
            got=f"width {sizes.d_context}",
            hint="Set a second text first.",
        )
    notes: list[str] = []
    config = replace(scenario.config, start="x", **candidate.family.config)
    changed = replace(scenario, params=params, config=config)
    changed = follow_sizes(scenario, changed, notes)
    if kept := _kept(scenario.config, candidate.family):
        notes.append(f"Still as set before: {', '.join(kept)}")
    told = "".join(f" {note}." for note in notes)
    return changed, f"The tables of {candidate.title}.{told} Undo brings the old ones back."


def _kept(config: Config, family: Family) -> list[str]:
    """What other families set and this one leaves, where it is not as usual."""
    names = {name for other in FAMILIES for name in other.config} - {*family.config}
    usual = Config()
    return [
        choice.label
        for name, choice in CHOICES.items()
        if name in names and getattr(config, name) != getattr(usual, name)
    ]
