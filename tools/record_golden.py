"""`python -m tools.record_golden`: write the JSON lines that each log of the corpus decodes to, beside the log.

Run it after recording the corpus, or after a change that is meant to change what events look like. Read the diff: it is
the change, as users will see it.
"""

from __future__ import annotations

from tests.corpus.cases import corpus_logs, golden_lines, golden_path


def main() -> None:
    for log in corpus_logs(encrypted=True, truncated=True):
        golden_path(log).write_text("".join(f"{line}\n" for line in golden_lines(log)), encoding="utf-8")


if __name__ == "__main__":
    main()
