"""How fast binary JSON becomes text, compared with the reference and `json.dumps`."""
