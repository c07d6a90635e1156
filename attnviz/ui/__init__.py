"""The page; everything that knows Streamlit."""
