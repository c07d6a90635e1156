"""The least that Streamlit can do for a click and a step: one heatmap and a sum as LaTeX.

Its keys are those of the app, so that the same driver uses both.
"""

import numpy as np
import streamlit as st

st.set_page_config(layout="wide")
X = np.array([[0.4, 0.2, 0.1, 0.3], [0.5, 0.3, 0.0, 0.9], [0.8, 0.4, 0.2, 0.6]])
W_Q = np.array([[0.3, 0.6], [0.5, 0.8], [0.9, 0.1], [0.5, 0.8]])
W_K = np.array([[0.4, 0.9], [0.1, 0.7], [0.6, 0.6], [0.1, 0.6]])
Q, K = X @ W_Q, X @ W_K
STEPS = {"scores": Q @ K.T, "scaled": Q @ K.T / np.sqrt(2)}


def go_to(place: int) -> None:
    st.session_state["step"] = place


step = st.session_state.setdefault("step", 0)
st.button("Back", key="step_back", shortcut="Left", on_click=go_to, args=(0,), disabled=not step)
st.button("Next", key="step_next", shortcut="Right", on_click=go_to, args=(1,), disabled=step)
key = list(STEPS)[step]
values = STEPS[key]
rows, columns = (axis.ravel().tolist() for axis in np.indices(values.shape))
heatmap = {"type": "heatmap", "z": values, "texttemplate": "%{z:.2f}", "meta": [key]}
overlay = {"type": "scatter", "mode": "markers", "x": columns, "y": rows}
overlay |= {"marker": {"size": 40, "opacity": 0}}
name = "step" if st.query_params.get("view") else "head_1"
with st.container(key=f"chart_{name}"):
    chosen = st.plotly_chart(
        {"data": [heatmap, overlay], "layout": {"showlegend": False}},
        theme=None,
        key="plot",
        on_select="rerun",
        selection_mode="points",
    )
points = chosen["selection"]["points"]
row, column = (points[0]["y"], points[0]["x"]) if points else (2, 2)
terms = " + ".join(f"{q:.2f} \\cdot {k:.2f}" for q, k in zip(Q[row], K[column], strict=True))
with st.container(key="explain_text"):
    st.html(f"<p>{key}, row {row}, column {column}</p>")
    st.latex(f"{terms} = {values[row, column]:.2f}")
