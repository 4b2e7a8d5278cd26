"""What pages are made of: frame, forms, jobs, tables, charts; the place for new parts."""
