"""Scenarios and traces in and out of files and links; no Streamlit, no Plotly."""

from attnviz.files.scenario_json import from_json, load, save, to_json

__all__ = ["from_json", "load", "save", "to_json"]
