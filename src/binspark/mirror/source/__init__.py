"""Where changes come from, and which mirror it is that reads them."""
