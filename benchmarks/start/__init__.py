"""How long the first use takes, which compiles the kernels, and every later one."""
