"""Record the test corpus: run SQL on real servers and keep the logs that they write.

`python -m tools.record_corpus` from the project's folder records every case; names after it record only those.
"""
