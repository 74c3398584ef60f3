"""Every key changed and reloaded under load: it takes effect, or is named with its line; no transfer breaks.

The running server itself says which keys there are (/v1/config). Each of them gets another value, in sections beside
those that serve the load where the new value would turn clients or the application away, is read with SIGHUP, and is
set back. Values come from the rows of the unit test that shows what each key does after a reload (ReloadRows.swift).
"""

import re
import signal
import time

from harness import certificates, transport
from harness.process import ROOT, ini, wait_for
from rows.reload import Load, load_origin

ROWS = ROOT / "Tests" / "PawlServerTests" / "Support" / "ReloadRows.swift"
RESTART = {("pawl", "workers"), ("pawl", "user"), ("pawl", "group"), ("listen", "unix-mode")}
REFUSED = {("pawl", "state-dir")}
# What these say is not about the load's sections: they have to fit another section, or would end the load.
BESIDE = {
    "listen": {"address", "tls", "proxy-protocol", "unix-mode", "http2"},
    "upstream": None,
    "site": {"upstream", "cache", "uploads", "spool", "upload-prefix", "host", "auth-request", "request-buffering"},
    "cache": {"path"},
    "spool": {"path"},
}
LISTS = {"certificate", "key", "client-ca", "ocsp"}


def values():
    """{key: [values]} of all rows without a Swift expression in them."""
    found = {}
    for key, rest in re.findall(r'ReloadRow\(\s*"([a-z0-9-]+)", ((?:"[^"]*"(?:, )?)+)', ROWS.read_text()):
        found.setdefault(key, []).extend(v for v in re.findall(r'"([^"]*)"', rest) if "\\(" not in v)
    return found


def base(origin, pair, folder):
    beside = {"upstream": "beside", "cache": "beside", "spool": "beside", "host": "beside.test"}
    return {
        "pawl": {"state-dir": "state", "workers": "2", "log-level": "notice", "trusted-proxies": "192.0.2.1"},
        "admin": {"listen": "unix:state/admin.sock"},
        "listen:main": {"address": "127.0.0.1:0"},
        "listen:second": {"address": "127.0.0.1:0", "http2": "on"},
        "listen:beside": {"address": "127.0.0.1:0", "tls": "beside"},
        "tls:beside": {"certificate": str(pair.certificate), "key": str(pair.key)},
        "cache:default": {"path": "cache", "min-free": "64M", "max-size": "2G"},
        "cache:beside": {"path": "beside", "min-free": "64M", "max-size": "64M"},
        "spool:default": {"max-size": "2G", "max-share-per-client": "100%"},
        "spool:beside": {"path": "beside-spool", "max-size": "64M"},
        "upstream:app": {"url": origin.url},
        "upstream:beside": {"url": origin.url},
        "upstream:second": {"url": origin.url},
        "spool:second": {"path": "second-spool", "max-size": "64M"},
        "site:main": {"upstream": "app", "min-resumable": "0"},
        "site:beside": beside,
        "route:beside/part": {"path": "/part*"},
    }


def run(scenario):
    origin = load_origin(scenario)
    pair = certificates.server()
    pawl = scenario.bench.pawl(origin, start=False)
    sections = base(origin, pair, pawl.folder)
    pawl.file.write_text(ini(sections))
    pawl.start(ready=3)
    transport.register(pawl.addresses[1], "h2c")
    shown = config(pawl)
    load = Load(scenario, origin, pawl)
    load.run()
    known, other = values(), special(pair, pawl.folder)
    counts = {"takes effect": 0, "named": 0, "refused": 0}
    keys = [(label, key) for label, entries in shown.items() for key in entries if is_tried(label, key)]
    if scenario.quick:
        keys = keys[::6]
    for label, key in keys:
        if len(scenario.failures) >= 10:
            break
        kind = label.partition(":")[0]
        candidates = other.get((kind, key)) or known.get(key, [])
        now = shown[label][key]
        value = next((v for v in candidates if v != now), None)
        if not scenario.require(value is not None, f"[{label}] {key}: no other value than {now}"):
            continue
        counts[change(scenario, pawl, sections, label, key, value)] += 1
    load.end()
    scenario.figure("keys", len(keys))
    for what, count in counts.items():
        scenario.figure(what, count)
    for what, value in sorted(load.counts.items()):
        scenario.figure(f"of {what}", value, 1, at_least=True)


def is_tried(label, key):
    """Each key once: beside the load where its value would turn the load away, else where the load goes."""
    kind, _, name = label.partition(":")
    if kind not in BESIDE:
        return True
    beside = BESIDE[kind]
    if name == "beside":
        return beside is None or key in beside
    return beside is not None and key not in beside and name in ("main", "default")


def special(pair, folder):
    """Values that the rows of the unit test make themselves."""
    second = certificates.server("rsa")
    authority = certificates.authority()
    return {
        ("pawl", "workers"): ["3"],
        ("pawl", "log-level"): ["info"],
        ("pawl", "state-dir"): [str(folder / "elsewhere")],
        ("pawl", "log"): [str(folder / "events.log")],
        ("pawl", "access-log"): [str(folder / "other-access.log")],
        ("admin", "listen"): [f"unix:{folder}/other.sock"],
        ("admin", "tls"): ["beside"],
        ("tls", "certificate"): [str(second.certificate)],
        ("tls", "key"): [str(second.key)],
        ("tls", "client-ca"): [str(authority.file)],
        ("cache", "path"): [str(folder / "cache2")],
        ("spool", "path"): [str(folder / "spool2")],
        ("upstream", "tls-ca"): [str(authority.file)],
        ("upstream", "tls-certificate"): [str(second.certificate)],
        ("upstream", "tls-key"): [str(second.key)],
        ("listen", "tls"): ["none"],
        ("tls", "ocsp"): [str(authority.staple(pair, "reloaded"))],
    }


def companions(kind, key):
    """What a value needs beside it."""
    second = certificates.server("rsa")
    return {
        ("tls", "certificate"): {"key": str(second.key)},
        ("tls", "key"): {"certificate": str(second.certificate)},
        ("tls", "client-certificate"): {"client-ca": str(certificates.authority().file)},
        ("upstream", "tls-certificate"): {"tls-key": str(second.key)},
        ("upstream", "tls-key"): {"tls-certificate": str(second.certificate)},
    }.get((kind, key), {})


def config(pawl):
    """{section: {key: text}} of the configuration in force."""
    from checks.admin import ask

    for path in (pawl.folder / "state" / "admin.sock", pawl.folder / "other.sock"):
        if path.exists():
            try:
                data = ask(str(path), "GET", "/v1/config").json
                break
            except (OSError, ValueError):
                continue
    found = {}
    for section in data["sections"]:
        entries = found.setdefault(section["section"], {})
        for value in section["values"]:
            entries.setdefault(value["key"], value["value"])
    return found


def outcomes(pawl):
    text = pawl.log() + ((pawl.folder / "events.log").read_text() if (pawl.folder / "events.log").exists() else "")
    # Two files while `log` is tried; the lines begin with the time.
    return sorted(line for line in text.splitlines() if re.search(r" (reloaded|reload-partial|reload-failed)\b", line))


def reload(pawl, text):
    """The lines that one reload logs."""
    before = len(outcomes(pawl))
    pawl.file.write_text(text)
    pawl.signal(signal.SIGHUP)
    wait_for(lambda: any(re.search(r" (reloaded|reload-failed)\b", o) for o in outcomes(pawl)[before:]), 30, "a reload")
    time.sleep(0.02)
    return outcomes(pawl)[before:]


def change(scenario, pawl, sections, label, key, value):
    kind = label.partition(":")[0]
    changed = {name: dict(entries) for name, entries in sections.items()}
    entries = changed.setdefault(label, {})
    entries.update(companions(kind, key))
    entries[key] = value
    said = reload(pawl, ini(changed))
    name = f"[{label}] {key}"
    place = re.search(re.escape(name) + ": ", "\n".join(said))
    if (kind, key) in REFUSED:
        scenario.require("reload-failed" in said[0] and place, f"{name} = {value}: not refused: {said}")
        outcome = "refused"
    elif (kind, key) in RESTART:
        scenario.require("reload-partial" in "\n".join(said) and place, f"{name} = {value}: not named: {said}")
        outcome = "named"
    else:
        good = all(" reloaded" in each for each in said)
        if scenario.require(good, f"{name} = {value}: {said}"):
            now = config(pawl).get(label, {}).get(key)
            scenario.require(now in (value, "(secret)"), f"{name} = {value}: in force is {now}")
        outcome = "takes effect"
    back = reload(pawl, ini(sections))
    scenario.require("reload-failed" not in "\n".join(back), f"{name}: back: {back}")
    return outcome
