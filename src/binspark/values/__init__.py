"""One value: the readable reference decoder of every column type."""
