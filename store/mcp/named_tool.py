"""Tools that know the name of the program that calls them."""

from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import ValidationError

from store.mcp.access import client

_LONGEST = 100  # characters of a name


class NamedTool(Tool):
    """A tool that passes its client's name on to `Access`, and refuses arguments in one line."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        caller = context.session.client_params
        client.set(caller.client_info.name[:_LONGEST] if caller else "")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_faults(error.__cause__)) from error
            raise


def _faults(error: ValidationError) -> str:
    """Each argument that does not fit and why, without what it held, which may be long."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
