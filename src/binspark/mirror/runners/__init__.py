"""Where changes are read and data files written: in this process, or on the executors of Spark."""
