"""Who is at the browser, what that person may see, and what is kept between two runs of a page."""
