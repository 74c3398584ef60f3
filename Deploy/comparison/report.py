"""The figures for eyes: lines while it runs, and a Markdown table."""


def amount(value, unit):
    if value is None:
        return "-"
    return f"{value:.3f} {unit}" if unit == "s/GB" else f"{value:,.2f} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def speed(value, unit):
    if value is None:
        return ""
    return f"{value:,.0f} MB/s" if unit == "s/GB" else f"{value:,.0f}/s"


def more(each):
    """What a row says beside its figure."""
    said = [f"first octet {each['first']} ms"] if "first" in each else []
    said += [f"idle {each['idle'] * 100:.2f} % of a core"] if "idle" in each else []
    return "".join(f"  {text}" for text in [*said, *([each["detail"]] if "detail" in each else [])])


def show(result):
    """One row, as it is done."""
    unit = result["unit"]
    print(f"\n{result['name']}: {result['title']} ({result['took']:.0f} s)")
    mine = next((each["cost"] for each in result["peers"] if each["peer"] == "pawl"), None)
    for each in result["peers"]:
        ratio = f"pawl is {mine / each['cost']:.3f} x" if mine is not None and each["peer"] != "pawl" and each["cost"] else ""
        low, high = min(each["costs"]), max(each["costs"])
        print(f"  {each['name']:44} {amount(each['cost'], unit):>14}  ({low:.2f} to {high:.2f}) {speed(each['rate'], unit):>12} {each['memory']['pss'] / 1e6:8,.0f} MB  {ratio}" + more(each))
    for who, why in result["skipped"].items():
        print(f"  {who}: left out: {why}")
    for goal in result["goals"]:
        print(f"  {goal['kind']}: {goal['ratio']:.3f}, {goal['text']}: {'met' if goal['met'] else 'NOT MET'}")


def markdown(report):
    lines = ["| | pawl | peers | pawl / nginx | bar | aim |", "|---|--:|---|--:|---|---|"]
    for row in report["rows"]:
        unit = row["unit"]
        mine = next((each for each in row["peers"] if each["peer"] == "pawl"), None)
        others = {}
        for each in row["peers"]:
            if each["peer"] != "pawl" and (each["peer"] not in others or each["cost"] < others[each["peer"]]):
                others[each["peer"]] = each["cost"]
        ratio = f"{mine['cost'] / others['nginx']:.2f}" if mine and others.get("nginx") else ""
        said = {kind: "<br>".join(f"{goal['ratio']:.2f}, {goal['text']}: {'met' if goal['met'] else 'not met'}"
                                  for goal in row["goals"] if goal["kind"] == kind) for kind in ("bar", "aim")}
        lines.append(f"| {row['title']} | {amount(mine['cost'], unit) if mine else '-'} | {', '.join(f'{name} {amount(cost, unit)}' for name, cost in others.items())} | {ratio} | {said['bar']} | {said['aim']} |")
    return "\n".join(lines) + "\n"
