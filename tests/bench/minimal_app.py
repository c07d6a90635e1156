"""The least that Streamlit can do here: one table editor and one heatmap of its numbers.

Its keys are those of the app, so that the same driver types into both.
"""

import pandas as pd
import streamlit as st

st.set_page_config(layout="wide")
START = [["0.5", "0.6"], ["0.8", "0.3"], ["0.7", "0.2"], ["0.1", "0.8"]]
frame = st.data_editor(
    pd.DataFrame(START, columns=["d0", "d1"], index=["d0", "d1", "d2", "d3"]),
    key="edit_w_q_1_0",
    row_height=28,
    column_config={"d0": st.column_config.TextColumn(), "d1": st.column_config.TextColumn()},
)
heatmap = {
    "type": "heatmap",
    "z": frame.astype(float).to_numpy(),
    "zmin": -1,
    "zmax": 1,
    "texttemplate": "%{z:.2f}",
    "meta": ["w_q"],
}
with st.container(key="chart_joint"):
    st.plotly_chart({"data": [heatmap], "layout": {}}, theme=None, key="plot")
