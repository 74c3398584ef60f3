"""The measured scenarios at their bounded size; Tests/Acceptance runs them in full."""

import pathlib
import sys

from harness.checks import CLEAR, Skip, check, only, true

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Acceptance"))
import scenarios  # noqa: E402

only(CLEAR, "measures what pawl does behind the wire", __name__)


def scenario_check(row):
    @check(f"{row}, bounded size", area="acceptance", seconds=180)
    def one(bench):
        result = scenarios.run_row(row, quick=True)
        if result["outcome"] == "SKIP":
            raise Skip("; ".join(result["notes"]))
        true(result["outcome"] == "PASS", f"{result['failed']} failures: {result['failures'][:4]}")


for each in (
    "resume",
    "replay",
    "changed",
    "cut",
    "kill9",
    "collapse",
    "tiny",
    "slow",
    "uploads",
    "lastbyte",
    "journal",
    "origindown",
    "uploadfull",
    "openuploads",
    "visitors",
    "events",
    "nodes",
    "compressed",
    "reload",
):
    scenario_check(each)
