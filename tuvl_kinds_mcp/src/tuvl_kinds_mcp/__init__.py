"""Kind MCP: one call of a tool of a Model Context Protocol server as a step."""
