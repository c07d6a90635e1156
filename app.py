"""The page; started with `streamlit run app.py`."""

import streamlit as st

from attnviz.ui.page import page

st.set_page_config(page_title="attnviz", layout="wide", initial_sidebar_state="expanded")
page()
