"""The one way by which a library changes (design section 4), and the way back."""
