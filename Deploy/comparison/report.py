"""The figures for eyes: lines while it runs, and a Markdown table."""


def amount(value, unit):
    if value is None:
        return "-"
    return (
        f"{value:.3f} {unit}"
        if unit in ("s/GB", "") and value < 10
        else f"{value:,.2f} {unit}"
        if value < 1000
        else f"{value:,.0f} {unit}"
    )


def span(each, unit):
    """A median with its spread: the least and the most of its rounds."""
    costs = each.get("costs") or [each["cost"]]
    if len(costs) < 2:
        return amount(each["cost"], unit)
    low, high = (amount(cost, unit).removesuffix(unit).strip() for cost in (min(costs), max(costs)))
    return f"{amount(each['cost'], unit)} ({low} to {high}, {len(costs)} rounds)"


def speed(value, unit):
    if value is None:
        return ""
    return f"{value:,.0f} MB/s" if unit == "s/GB" else f"{value:,.0f}/s"


def more(each):
    """What a row says beside its figure."""
    said = [f"first byte {each['first']} ms"] if "first" in each else []
    said += [f"meanwhile {each['idle'] * 100:.2f} % of a core"] if "idle" in each else []
    return "".join(f"  {text}" for text in [*said, *([each["detail"]] if "detail" in each else [])])


def show(result):
    """One row, as it is done."""
    unit = result["unit"]
    print(f"\n{result['name']}: {result['title']} ({result['took']:.0f} s)")
    mine = next((each["cost"] for each in result["peers"] if each["peer"] == "pawl"), None)
    for each in result["peers"]:
        ratio = (
            f"pawl is {mine / each['cost']:.3f} x"
            if mine is not None and each["peer"] != "pawl" and each["cost"]
            else ""
        )
        low, high, rounds = min(each["costs"]), max(each["costs"]), len(each["costs"])
        print(
            f"  {each['name']:44} {amount(each['cost'], unit):>14}  ({low:.2f} to {high:.2f} in {rounds}) "
            f"{speed(each['rate'], unit):>12} {each['memory']['pss'] / 1e6:8,.0f} MB  {ratio}" + more(each)
        )
    for line in grid(result):
        print("  " + line)
    for who, why in result["skipped"].items():
        print(f"  {who}: left out: {why}")
    for goal in result["goals"]:
        print(f"  {goal['kind']}: {goal['ratio']:.3f}, {goal['text']}: {'met' if goal['met'] else 'NOT MET'}")


def cell(value):
    if not isinstance(value, dict):
        return str(value)
    if "completed" in value:
        return (
            f"{value['completed'] * 100:.0f} %"
            + (f", {value['wrong']} WRONG" if value["wrong"] else "")
            + f", origin {value['origin']:g} x, {value['seconds']:g} s"
        )
    return (
        f"{value['status']}, client {value['sent']:g} x, origin {value['right']} right of "
        f"{value['requests at the origin']}" + (f", {value['wrong']} WRONG" if value["wrong"] else "")
    )


def grid(result):
    """The lines of a row that is a table of its own."""
    if not result.get("table"):
        return []
    cells = [result["columns"], *([cell(line[column]) for column in result["columns"]] for line in result["table"])]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return [" | ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip() for line in cells]


def markdown(report):
    congestion = report.get("congestion control")
    lines = (
        [
            f"Congestion control of every server and of the load: {congestion}. Medians; in parentheses the least "
            "and the most of the rounds.",
            "",
        ]
        if congestion
        else []
    )
    lines += ["| | pawl | peers | pawl / nginx | bar | aim |", "|---|--:|---|--:|---|---|"]
    for row in report["rows"]:
        if "table" in row:
            continue
        unit = row["unit"]
        mine = next((each for each in row["peers"] if each["peer"] == "pawl"), None)
        others = {}
        for each in row["peers"]:
            if each["peer"] != "pawl" and (each["peer"] not in others or each["cost"] < others[each["peer"]]["cost"]):
                others[each["peer"]] = each
        ratio = (
            f"{mine['cost'] / others['nginx']['cost']:.2f}"
            if mine and "nginx" in others and others["nginx"]["cost"]
            else ""
        )
        said = {
            kind: "<br>".join(
                f"{goal['ratio']:.2f}, {goal['text']}: {'met' if goal['met'] else 'not met'}"
                for goal in row["goals"]
                if goal["kind"] == kind
            )
            for kind in ("bar", "aim")
        }
        lines.append(
            f"| {row['title']} | {span(mine, unit) if mine else '-'} | "
            f"{', '.join(f'{name} {span(each, unit)}' for name, each in others.items())} | {ratio} | "
            f"{said['bar']} | {said['aim']} |"
        )
    lines += ["", "**Throughput, memory, and what else there is to say**", "", "| | |", "|---|---|"]
    for row in report["rows"]:
        said = [
            ", ".join(
                filter(
                    None,
                    [
                        f"{each['name']} {speed(each['rate'], row['unit'])}".strip(),
                        f"{each['memory']['pss'] / 1e6:,.0f} MB",
                        more(each).strip(),
                    ],
                )
            )
            for each in row["peers"]
            if each["rate"] is not None or more(each)
        ]
        lines += [f"| {row['title']} | {'<br>'.join(said)} |"] if said else []
    for row in report["rows"]:
        if row.get("table"):
            lines += [
                "",
                f"**{row['title']}**",
                "",
                "| " + " | ".join(row["columns"]) + " |",
                "|" + "---|" * len(row["columns"]),
            ]
            lines += [
                "| " + " | ".join(cell(line[column]) for column in row["columns"]) + " |" for line in row["table"]
            ]
    return "\n".join(lines) + "\n"
