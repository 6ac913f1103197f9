"""How long the first use takes, which compiles kernels, and later uses."""
