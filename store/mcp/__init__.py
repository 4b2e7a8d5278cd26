"""The library and its text memory for agents, over the Model Context Protocol.

    python -m store mcp              # over standard input and output: the agent starts it
    python -m store mcp --http 8766  # streamable HTTP on loopback, with a token

It reads beside whoever writes, and takes the writer's lock only for the moment of one `store_memory`: so it
never keeps the dashboard from writing, and while the dashboard holds the memory it says that it only reads.
"""
