"""One grid of coins for review, the approved queue, search results and the trash."""
