"""The text memory's collections in Chroma, and the follower that keeps them current."""
