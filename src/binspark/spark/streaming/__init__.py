"""The streaming source: offsets and limits on the driver, ranges of the log on executors."""
