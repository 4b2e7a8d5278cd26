"""Tools that know the name of the program that calls them."""

from typing import Any

from mcp.server.mcpserver.tools import Tool

from store.mcp.access import client

_LONGEST = 100  # characters of a name


class NamedTool(Tool):
    """A tool that passes its client's name on to `Access`."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        caller = context.session.client_params
        client.set(caller.client_info.name[:_LONGEST] if caller else "")
        return await super().run(arguments, context, convert_result)
