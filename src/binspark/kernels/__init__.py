"""The hot loops: Python that Numba compiles."""
