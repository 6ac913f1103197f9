"""How fast Spark's views of a log are: events and transactions beside changes."""
