"""The library and its text memory for agents, over the Model Context Protocol.

    python -m store mcp              # over standard input and output: the agent starts it
    python -m store mcp --http 8766  # streamable HTTP on loopback, with a token

It reads beside the process that writes, and takes the writer's lock only for each `store_memory`. So it does
not keep the dashboard from writing, and while the dashboard has the memory open it says that it is read-only.
"""
