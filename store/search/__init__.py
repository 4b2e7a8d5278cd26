"""Search: queries, weights, scores and their explanation, over vectors in memory."""
