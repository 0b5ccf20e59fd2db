"""A server made with the SDK, with one tool that does nothing."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("bench")


@server.tool()
def echo(text: str) -> str:
    """Give back a text."""
    return text


server.run("stdio")
