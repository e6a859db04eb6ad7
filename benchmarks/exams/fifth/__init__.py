"""The fifth paper: runs that are lived step by step from causes; a fault changes a cause, its signs follow."""
