"""How fast tools that DBAs use are, beside the server's own."""
