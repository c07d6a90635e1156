"""Say once in a figure's own template what most of its parts share, which halves its size."""

from typing import Any

Spec = dict[str, Any]

# What is never moved there: what a thing is and where it stands. Plotly.js looks for zmin and
# zmax in the trace alone, and clicks are told apart by meta.
_OWN = {"type", "meta", "z", "zmin", "zmax", "x", "y", "text", "hovertext", "xaxis", "yaxis"}
_OWN |= {"path", "domain"}


def hoisted(specs: list[Spec]) -> Spec:
    """Take out of all specs what most of them share, to be said once in the template."""
    shared: Spec = {}
    for name in specs[0] if specs else ():
        if name in _OWN or any(name not in spec for spec in specs):
            continue
        values = [spec[name] for spec in specs]
        if all(isinstance(value, dict) for value in values):
            copies = [dict(value) for value in values]
            shared[name] = hoisted(copies)
            for spec, rest in zip(specs, copies, strict=True):
                spec[name] = rest
        else:
            common = max(values, key=values.count)
            if values.count(common) > 1:
                shared[name] = common
    for spec in specs:
        for name, value in shared.items():
            if spec[name] == value or spec[name] == {}:
                del spec[name]
    return shared
