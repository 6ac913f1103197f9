"""How programs that run for long are watched: their status, as lines, as metrics over HTTP, and as a health check.

status      what a command, a mirror or a stream reports of itself: one value for all of them
lag         how far a reader lags behind its server
metrics     the metrics that Prometheus reads, made of a status
health      whether a status is that of a program that does its work
endpoint    the HTTP server for both; loads prometheus-client
reporter    status lines at regular intervals, and the endpoint, while something runs
"""
