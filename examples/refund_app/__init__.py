"""A small desk for refunds: its tables, four tools, and a server of the Model Context Protocol over them."""
