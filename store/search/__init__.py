"""What is asked of the library and what is answered: vectors in memory, weights, scores, and why."""
