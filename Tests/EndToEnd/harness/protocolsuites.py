"""Public suites of HTTP/2 and TLS run against a listener: h2spec, testssl.sh and tlsfuzzer, from programs and checkouts
you have.

h2spec        the program of summerwind/h2spec: `go build ./cmd/h2spec` in a checkout
testssl.sh    the script, or Debian's package testssl.sh
tlsfuzzer     a checkout of tlsfuzzer/tlsfuzzer, and a Python that has its tlslite-ng (requirements.txt) and ecdsa
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml

TROUBLE = ("MEDIUM", "HIGH", "CRITICAL", "WARN", "FATAL")
ABOUT_TRUST = re.compile(
    r"^(cert_trust|cert_chain_of_trust|cert_revocation|cert_crl|cert_ocsp|cert_caIssuers|cert_expirationStatus|cert_extlifeSpan|"
    r"OCSP_stapling|DNS_CAArecord|certificate_transparency|certs_)"
)


def h2spec(program, port, secure, path="/", seconds=600):
    """(tests, {test: what was expected and seen}) of all its groups."""
    with tempfile.TemporaryDirectory(prefix="pawl-h2spec-") as folder:
        report = pathlib.Path(folder) / "report.xml"
        words = [
            program,
            "generic",
            "http2",
            "hpack",
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-P",
            path,
            "-j",
            str(report),
        ]
        done = subprocess.run(words + (["-t", "-k"] if secure else []), capture_output=True, text=True, timeout=seconds)
        if not report.exists():
            raise AssertionError(f"h2spec ended with {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
        total, failed = 0, {}
        for suite in xml.parse(report).getroot().iter("testsuite"):
            for number, case in enumerate(suite.iter("testcase"), 1):
                total += 1
                for trouble in [*case.iter("failure"), *case.iter("error"), *case.iter("skipped")]:
                    failed[f"{suite.get('package')}/{number} {case.get('classname')}"] = " ".join(
                        "".join(trouble.itertext()).split()
                    )
        return total, failed


def testssl(program, port, seconds=1500):
    """(number of findings, {finding: what it says} of those of MEDIUM or worse): protocols, ciphers, forward secrecy,
    defaults, vulnerabilities.

    What is about the trust and revocation of a certificate that nobody signed is left out.
    """
    with tempfile.TemporaryDirectory(prefix="pawl-testssl-") as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run(
            [
                program,
                "--quiet",
                "--color",
                "0",
                "--warnings",
                "off",
                "--ip",
                "one",
                "--jsonfile",
                str(report),
                "-p",
                "-s",
                "-f",
                "-P",
                "-S",
                "-U",
                "-g",
                f"127.0.0.1:{port}",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            cwd=folder,
            env={**os.environ, "MEASURE_TIME": "false"},
        )
        if not report.exists():
            raise AssertionError(f"testssl ended with {done.returncode}: {(done.stdout + done.stderr)[-600:]}")
        findings = json.loads(report.read_text())
    trouble = {
        each["id"]: f"{each['severity']}: {each['finding']}"
        for each in findings
        if each["severity"] in TROUBLE and not ABOUT_TRUST.match(each["id"])
    }
    return len(findings), trouble


# Some scripts choose their conversations at random: every server is to get the same ones.
SEEDED = "import random, runpy, sys; random.seed(4); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"


class Conversations:
    """What one script of tlsfuzzer counted."""

    def __init__(self, label, output, ended):
        self.label, self.output, self.ended = label, output, ended
        counts = {
            word: int(number)
            for word, number in re.findall(r"^(TOTAL|SKIP|PASS|XFAIL|FAIL|XPASS): (\d+)", output, re.M)
        }
        self.total = counts.get("TOTAL", 0)
        self.failed = (
            re.findall(r"^\t(.*)$", output.partition("FAILED:\n")[2].partition("\n====")[0], re.M)
            if "FAILED:\n" in output
            else []
        )
        self.failed = [each.strip("'\"") for each in self.failed]
        # Some scripts count repetitions of one conversation as passed ones.
        self.passed = max(0, min(counts.get("PASS", 0), self.total - counts.get("FAIL", 0)))

    def reason(self, conversation):
        """What ended a failed conversation the first time."""
        part = self.output.partition(f"{conversation} ...\n")[2]
        for line in part.splitlines():
            if re.match(r"^\w+(Error|Exception)\b", line):
                return line[:300]
        return ""


def tlsfuzzer(python, checkout, port, plan, workers=2, seconds=900):
    """Runs `plan`, [(script, arguments, port or None)], and yields Conversations in its order."""
    checkout = pathlib.Path(checkout).resolve()

    def one(step):
        script, arguments, other = step
        label = " ".join([script, *arguments])
        words = [
            python,
            "-c",
            SEEDED,
            str(checkout / "scripts" / script),
            "-h",
            "127.0.0.1",
            "-p",
            str(other or port),
            *arguments,
        ]
        try:
            done = subprocess.run(
                words,
                cwd=checkout,
                capture_output=True,
                text=True,
                timeout=seconds,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            return Conversations(label, done.stdout + done.stderr, done.returncode)
        except subprocess.TimeoutExpired as late:
            return Conversations(label, (late.stdout or b"").decode(errors="replace"), f"not done within {seconds} s")

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, plan)
