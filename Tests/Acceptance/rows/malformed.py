"""Malformed messages: every row of the hygiene table, requests and responses; 0 ambiguous messages forwarded."""

from harness import malformed


def run(scenario):
    make = lambda url: (
        scenario.bench.pawl(
            url,
            name=f"pawl{len(scenario.bench.pawls)}",
            listen={"header-timeout": "2s"},
            upstream={"resume-attempts": 2},
        ).address
    )
    for kind, results in (("requests", malformed.run_requests(make)), ("responses", malformed.run_responses(make))):
        for row, name, wrong in results:
            scenario.require(wrong is None, f"{kind} row {row}, {name}: {wrong}")
        scenario.figure(
            f"{kind}: right reactions", sum(wrong is None for _, _, wrong in results), len(results), at_least=True
        )
        if kind == "requests":
            scenario.figure(
                "ambiguous messages forwarded",
                sum("forwarded" in (wrong or "") or "hidden" in (wrong or "") for _, _, wrong in results),
                0,
            )
