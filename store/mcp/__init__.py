"""The library and its text memory for agents, over the Model Context Protocol.

    python -m store mcp              # over standard input and output: the agent starts it
    python -m store mcp --http 8766  # streamable HTTP on loopback, with a token

It reads and stores while the dashboard and other agents do; a memory is durable when the call returns. Chroma
follows in the process that keeps the memory in order.
"""
