"""Streamlit parts that pages are made of."""
