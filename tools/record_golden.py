"""`python -m tools.record_golden`: write the golden JSON lines of each log of the corpus.

Run it after recording the corpus, or after an intended change of the JSON form of events. Read the diff: it is the
change that users will see.
"""

from __future__ import annotations

from tests.corpus.cases import corpus_logs, golden_lines, golden_path


def main() -> None:
    for log in corpus_logs(encrypted=True, truncated=True):
        golden_path(log).write_text("".join(f"{line}\n" for line in golden_lines(log)), encoding="utf-8")


if __name__ == "__main__":
    main()
