"""`make conformance`: run the suite against the pack and against the example ladder, print what came of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .served import Served
from .suite import REVISIONS, Suite, SuiteMissing
from .trial import try_out
from .verdicts import Verdict

MISSING = 3


def main() -> int:
    """0 when every scenario that counts passed, 1 when one did not, 3 when the suite cannot be had."""
    try:
        suite = Suite()
    except SuiteMissing as reason:
        print(f"NOT TESTED: the conformance suite cannot be run, because {reason}.", file=sys.stderr)
        return MISSING
    verdicts: list[Verdict] = []
    for served in (Served.pack(), Served.ladder()):
        with served as url:
            for revision in REVISIONS:
                verdicts += try_out(suite, served.office, url, revision)
    show(verdicts)
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def show(verdicts: Sequence[Verdict]) -> None:
    """Print a line per scenario with what there is to say about it, and how many of those that count passed."""
    widest = max(len(verdict.scenario) for verdict in verdicts)
    for verdict in verdicts:
        print(
            f"{verdict.office:6}  {verdict.revision}  {verdict.scenario:{widest}}  {verdict.outcome:7}  "
            f"{verdict.checks:>5}"
        )
        for reason in verdict.why:
            print(f"        {reason}")
    counting = [verdict for verdict in verdicts if verdict.counts]
    passed = sum(verdict.outcome == "passed" for verdict in counting)
    print(f"\n{passed} of {len(counting)} scenarios that count passed.")


if __name__ == "__main__":
    sys.exit(main())
