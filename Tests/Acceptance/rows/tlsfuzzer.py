"""tlsfuzzer's TLS 1.3 conversations: at least as many as nginx in the same run with the same options, every failed one
explained.

Set TLSFUZZER to a checkout of tlsfuzzer/tlsfuzzer and TLSFUZZER_PYTHON to a Python that has its tlslite-ng
(requirements.txt) and ecdsa.
Counted are the conversations of the scripts below, as many as each runs by itself (some choose them at random, here
with a fixed seed);
--quick runs at most 20 of each script.
Left out are scripts that need another kind of server: an echo (lengths), external PSKs (psk_ke, psk_dhe_ke), no TLS 1.3
at all (non-support), a capture of packets (minerva), post-quantum keys (mlkem, mldsa), authentication after the
handshake (post-handshake-auth).
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

import tlsscenario
from harness import protocolsuites
from harness.checks import Skip
from harness.origin import Resource

GROUPS = "x25519,secp256r1,secp384r1,x448,secp521r1,ffdhe2048,ffdhe3072,ffdhe4096,ffdhe6144,ffdhe8192"
SIGNATURES = (
    "ecdsa_secp256r1_sha256 ecdsa_secp384r1_sha384 ecdsa_secp521r1_sha512 ed25519 ed448 rsa_pss_pss_sha256 "
    "rsa_pss_pss_sha384 rsa_pss_pss_sha512 "
    "rsa_pss_rsae_sha256 rsa_pss_rsae_sha384 rsa_pss_rsae_sha512 rsa_pkcs1_sha256 rsa_pkcs1_sha384 rsa_pkcs1_sha512"
)
MODERN = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"  # for servers that have no CBC suites in TLS 1.2
PLAIN = {  # script: options that a server on OpenSSL needs
    "0rtt-garbage": [],
    "ccs": [],
    "certificate-compression": [],
    "connection-abort": [],
    "conversation": [],
    "count-tickets": ["-t", "1"],  # one for each handshake
    "crfg-curves": [],
    "dhe-shared-secret-padding": [],
    "ecdhe-brainpool-curves": [],
    "ecdhe-curves": [],
    "ecdsa-support": [],
    "eddsa": [],
    "empty-alert": [],
    "ffdhe-groups": [],
    "ffdhe-sanity": [],
    "finished": [],
    "finished-plaintext": [],
    "hrr": [],
    "invalid-ciphers": [],
    "keyshare-omitted": [],
    "keyupdate": [],
    "keyupdate-from-server": [],
    "large-number-of-extensions": ["--supgroup"],  # the server tells its groups
    "legacy-version": [],
    "multiple-ccs-messages": [],
    "no-unknown-groups": ["--groups", GROUPS],
    "nociphers": [],
    "obsolete-curves": ["-a", "handshake_failure"],  # what a server says that has no group in common
    "pkcs-signature": [],
    "record-layer-limits": [],
    "record-padding": [],
    "rsa-signatures": [],
    "rsapss-signatures": [],
    "serverhello-random": [],
    "session-resumption": ["-d", "--server-preferred-pke", "psk_dhe_ke", "--tls1.2-cipher", MODERN],
    "shuffled-extentions": [],
    "signature-algorithms": [],
    "symetric-ciphers": [],
    "unencrypted-alert": [],
    "unrecognised-groups": [],
    "version-negotiation": ["-d", "-C", MODERN],
    "zero-content-type": [],
    "zero-length-data": [],
}
LIMITED = {"dhe-shared-secret-padding"}  # scripts whose -n means something else
ASKED = {  # script: kinds of client certificates it is run with
    "certificate-request": [None],
    "certificate-verify": ["rsa", "rsapss"],
    "ecdsa-in-certificate-verify": ["ec"],
    "eddsa-in-certificate-verify": ["ed25519", "ed448"],
    "client-certificate-compression": ["rsa"],
}
NO_CERTIFICATE = "the server has an ECDSA certificate for P-256 and an RSA one, as deployments have, and none of the kind that this asks for"
OLD_COMPRESSION = "OpenSSL compresses certificates (RFC 8879) from 3.2 on"
DECODE = "OpenSSL tells another fatal alert than the script expects"
MEANING = {  # script: why a server on OpenSSL 3.0 fails it
    "certificate-compression": OLD_COMPRESSION,
    "client-certificate-compression": OLD_COMPRESSION,
    "certificate-request": "OpenSSL's list of signature algorithms or extensions differs from the script's",
    "crfg-curves": DECODE + " for an empty key share",
    "finished": DECODE + " for a padded Finished",
    "ecdhe-brainpool-curves": "OpenSSL has the Brainpool curves of TLS 1.3 from 3.2 on",
    "ecdsa-support": NO_CERTIFICATE,
    "eddsa": NO_CERTIFICATE,
    "rsapss-signatures": NO_CERTIFICATE,
    "ffdhe-groups": DECODE + " for an empty key share, and takes a doubled one",
    "keyupdate-from-server": "wants a server that updates its keys by itself after the handshake",
    "legacy-version": DECODE + " for SSL 3.0 as the legacy version",
    "multiple-ccs-messages": DECODE + ", or closes first, for a second ChangeCipherSpec",
    "no-unknown-groups": "OpenSSL does not read lists of more than 128 groups",
    "obsolete-curves": "OpenSSL ignores groups that TLS 1.3 withdrew where the client offers others, too",
    "record-layer-limits": "OpenSSL counts the padding of a record otherwise than the script",
    "session-resumption": "key exchange with the pre-shared key alone is off by default in OpenSSL",
    "shuffled-extentions": "OpenSSL does not compare the order of the extensions in a second ClientHello",
    "version-negotiation": "TLS 1.1 is not spoken",
    "keyupdate": "a time-out of the script on a busy machine",
    "certificate-verify": "OpenSSL's certificate request differs from the script's",
    "ecdsa-in-certificate-verify": "OpenSSL's certificate request differs from the script's",
    "eddsa-in-certificate-verify": "OpenSSL's certificate request differs from the script's",
    "symetric-ciphers": "the CCM suites are off by default in OpenSSL",
}
EXPLAINED = {  # (script, words in the reason): why pawl differs from nginx
    ("0rtt-garbage", "handshake_failure"): "goes back to TLS 1.2 with CBC suites only; pawl has none",
    ("session-resumption", "handshake_failure"): "goes back to TLS 1.2 with CBC suites only; pawl has none",
}


def run(scenario):
    checkout = os.environ.get("TLSFUZZER")
    if not checkout or not (pathlib.Path(checkout) / "scripts").is_dir():
        raise Skip("set TLSFUZZER to a checkout of tlsfuzzer/tlsfuzzer")
    python = os.environ.get("TLSFUZZER_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import tlslite, ecdsa"], capture_output=True).returncode:
        raise Skip("set TLSFUZZER_PYTHON to a Python that has tlslite-ng and ecdsa")
    origin = scenario.bench.origin()
    # The scripts take one record of application data for the whole answer: a head and nothing more is one.
    origin.default = lambda request: Resource(b"", type="text/plain")
    folder = scenario.bench.folder / "pairs"
    files = [tlsscenario.pair(folder, "ec"), tlsscenario.pair(folder, "rsa", "rsa")]
    authority, clients = client_pairs(folder)

    pawl = tlsscenario.pawl_front(scenario, origin, {"main": tlsscenario.section(*files)})
    asking = tlsscenario.pawl_front(
        scenario,
        origin,
        {"main": tlsscenario.section(*files, **{"client-ca": authority, "client-certificate": "optional"})},
        name="asking",
    )
    sides = {"pawl": (pawl.tls, asking.tls)}
    where = f"location / {{ proxy_pass {origin.url}; }}"
    nginx = tlsscenario.nginx_front(scenario, files, where, http2=False)
    if nginx:
        also = tlsscenario.nginx_front(
            scenario,
            files,
            f"ssl_client_certificate {authority}; ssl_verify_client optional; " + where,
            name="nginx-asking",
            http2=False,
        )
        sides["nginx"] = (nginx.tls, also.tls)

    results = {}
    for side, (plain, asked) in sides.items():
        results[side] = list(protocolsuites.tlsfuzzer(python, checkout, plain, plan(scenario.quick, asked, clients)))
        total, passed = sum(each.total for each in results[side]), sum(each.passed for each in results[side])
        scenario.figure(f"{side}: conversations passed of {total}", passed)
        for each in results[side]:
            if not each.total:
                scenario.require(False, f"{side}: {each.label} counted nothing: {each.output[-300:]}")
    if nginx:
        more = sum(each.passed for each in results["pawl"]) - sum(each.passed for each in results["nginx"])
        scenario.figure("pawl's passed conversations less nginx's", more, 0, at_least=True)

    def alone(label, conversation):
        """The same conversation again, by itself, at nginx: it may have passed there by chance, or not have been
        chosen."""
        step = next(step for step in plan(scenario.quick, also.tls, clients) if " ".join([step[0], *step[1]]) == label)
        return next(
            protocolsuites.tlsfuzzer(python, checkout, nginx.tls, [(step[0], [*step[1], conversation], step[2])])
        )

    explain(scenario, results["pawl"], results.get("nginx", []), alone if nginx else None)


def plan(quick, asked, clients):
    steps = []
    for script, options in PLAIN.items():
        few = ["-n", "20"] if quick and script not in LIMITED else []
        steps.append((f"test-tls13-{script}.py", options + few, None))
    for script, kinds in ASKED.items():
        for kind in kinds:
            options = ["-k", str(clients[kind][1]), "-c", str(clients[kind][0])] if kind else []
            options += ["--skip-bombs", "--random-fuzz-size", "0"] if "compression" in script else ["-s", SIGNATURES]
            steps.append((f"test-tls13-{script}.py", options, asked))
    return steps


def explain(scenario, ours, theirs, alone):
    """Every failed conversation: with the same words at nginx too (then it is OpenSSL's way), or explained above, or a
    failure of this row."""
    known, shared = {each.label.split(" -k")[0]: each for each in theirs}, 0
    for each in ours:
        script = each.label.split()[0].removeprefix("test-tls13-").removesuffix(".py")
        there = known.get(each.label.split(" -k")[0])
        words = {reason(there, conversation) for conversation in there.failed} if there else set()
        groups = collections.Counter()
        for conversation in each.failed:
            why = reason(each, conversation)
            same = there and (conversation in there.failed or why in words)
            text = next((text for (name, part), text in EXPLAINED.items() if name == script and part in why), None)
            if not same and not text and alone:
                again = alone(each.label, conversation)
                same = bool(again.failed) and reason(again, conversation) == why
            shared += bool(same)
            groups[why] += 1
            if not same and text:
                groups[text] += 1
            elif not same:
                scenario.require(False, f"{script}: {conversation}: {why}; nginx passes it")
            elif script not in MEANING:
                scenario.note(f"{script}: {conversation}: fails at nginx, too, and is not explained")
        if groups:
            scenario.note(
                f"{script}: {each.passed} of {each.total}, nginx {there.passed if there else '-'}: "
                f"{MEANING.get(script, '')}: "
                + "; ".join(f"{number} x {why[:110]}" for why, number in groups.most_common(3))
            )
    scenario.figure("failed conversations that nginx fails in the same way", shared)


def reason(conversations, name):
    return re.sub(r"0x[0-9a-f]+|len=\d+", "", conversations.reason(name))


def client_pairs(folder):
    """An authority, and {kind: (certificate, key)} of clients it signed."""

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)

    authority, key = folder / "ca.pem", folder / "ca.key"
    openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        key,
        "-out",
        authority,
        "-days",
        30,
        "-subj",
        "/CN=clients",
    )
    made = {}
    kinds = {
        "rsa": ["RSA"],
        "rsapss": ["RSA-PSS"],
        "ec": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        "ed25519": ["ED25519"],
        "ed448": ["ED448"],
    }
    for kind, words in kinds.items():
        certificate, own, request = (folder / f"client-{kind}.{end}" for end in ("pem", "key", "csr"))
        openssl("genpkey", "-algorithm", *words, "-out", own)
        openssl("req", "-new", "-key", own, "-subj", f"/CN={kind}", "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", authority, "-CAkey", key, "-days", 20, "-out", certificate)
        made[kind] = (certificate, own)
    return authority, made
