"""Draft guards and effects of tools that are code, from what their runs on small databases change."""
