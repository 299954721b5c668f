"""`make conformance`: the published MCP conformance suite against what Engross serves."""
