"""From YAML text to nodes with places, and from nodes to the schema."""
