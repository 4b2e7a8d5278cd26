"""Pictures from the network, only on request.

guard.py        which addresses may be connected to, and connecting to the very one that was checked
transport.py    an HTTP client that uses only those connections
retry_after.py  which servers are busy, and how long they ask to wait
download.py     one picture, within limits of size, type and time
tasks/fetch_logos.py        the logos of a token list: a few at a time, as a job that can continue
"""
