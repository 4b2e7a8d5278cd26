"""The page Insights: what is in the library, how it is reviewed, and how well it is found."""
