"""How the demo library's pictures are drawn: art, wardrobe, places, figures, styles (see make_demo.py)."""
