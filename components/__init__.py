"""Streamlit parts of the pages."""
