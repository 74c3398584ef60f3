"""Kernel TLS in a virtual machine whose kernel has it: the same bytes, sent by the kernel.

Set KTLS_KERNEL to an unpacked kernel package with its modules (`apt-get download linux-image-...-cloud-amd64; dpkg-deb
-x ...deb DIR`).
Needs qemu-system-x86_64, busybox-static, openssl, curl, cpio and depmod; emulated unless KTLS_ACCEL=kvm. pawl is the
release binary with the libraries of this machine.
"""

import gzip
import os
import pathlib
import re
import shutil
import subprocess

import tlsscenario
from harness import process
from harness.checks import Skip

MODULES = (
    "kernel/arch/x86/crypto/aesni-intel",
    "kernel/arch/x86/crypto/ghash-clmulni-intel",
    "kernel/crypto/gcm",
    "kernel/crypto/ctr",
    "kernel/crypto/ghash-generic",
    "kernel/net/tls/tls",
)
INIT = """#!/bin/busybox sh
export PATH=/bin:/usr/bin
/bin/busybox --install -s /bin
/bin/busybox mkdir -p /bin /proc /sys /dev /tmp
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mkdir -p /tmp /dev/pts; mount -t tmpfs -o size=900m t /tmp
ip link set lo up
for m in $(cat /modules); do insmod $m || echo "SAY insmod $m failed"; done
mkdir -p /tmp/www; cd /tmp; head -c 16777216 /dev/urandom > www/file
echo "SAY kernel $(uname -r), /proc/net/tls_stat $(test -e /proc/net/tls_stat && echo there)"
stat() { awk '{printf "%s=%s ", $1, $2}' /proc/net/tls_stat; }
# A control: openssl's own server with sendfile through the kernel.
cd /tmp/www; OPENSSL_CONF=/ktls.cnf openssl s_server -accept 9443 -cert /pair.pem -key /pair.key -WWW -sendfile -quiet >/tmp/control.log 2>&1 & cd /tmp
sleep 2
curl -sk -m 100 --tls-max 1.2 --ciphers ECDHE-ECDSA-AES128-GCM-SHA256 -o /tmp/got https://127.0.0.1:9443/file; cmp /tmp/got www/file && echo "SAY control same"
echo "SAY control $(stat)"
httpd -p 127.0.0.1:8000 -h /tmp/www
echo "SAY version $(/pawl version 2>&1 | tr '\\n' ';')"
mkdir -p /tmp/state; /pawl serve --config /pawl.ini > /tmp/pawl.out 2>&1 &
P=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -q Ready /tmp/pawl.out && break; sleep 1; done
fetch() { # label, curl options
  L=$1; shift; rm -f /tmp/got
  curl -sk -m 100 "$@" -o /tmp/got -w '%{http_code} %{http_version} %{size_download}' https://127.0.0.1:8443/file > /tmp/code; R=$?
  cmp -s /tmp/got /tmp/www/file && S=same || S=other
  echo "SAY $L: curl $R, $(cat /tmp/code), $S; $(stat)"
}
echo "SAY before $(stat)"
fetch fill --http1.1
for v in 1.2 1.3; do for s in AES128-GCM-SHA256 AES256-GCM-SHA384 CHACHA20-POLY1305; do
  case $s in AES128-GCM-SHA256) a=TLS_AES_128_GCM_SHA256;; AES256-GCM-SHA384) a=TLS_AES_256_GCM_SHA384;; *) a=TLS_CHACHA20_POLY1305_SHA256;; esac
  if test $v = 1.2; then fetch "hit TLS $v $s" --http1.1 --tls-max 1.2 --ciphers "ECDHE-ECDSA-$s"; else fetch "hit TLS $v $s" --http1.1 --tlsv1.3 --tls13-ciphers $a; fi
done; done
fetch "hit HTTP/2" --http2
curl -sk -m 100 --http1.1 -r 1000000-1999999 -o /tmp/part https://127.0.0.1:8443/file; tail -c +1000001 www/file | head -c 1000000 | cmp - /tmp/part && echo "SAY range same"
T0=$(awk '{print $14+$15}' /proc/$P/stat)
for i in 1 2 3 4 5 6 7 8; do curl -sk -m 100 --http1.1 -o /dev/null https://127.0.0.1:8443/file; done
T1=$(awk '{print $14+$15}' /proc/$P/stat)
echo "SAY cpu ticks of pawl for 8 x 16 MiB: $((T1 - T0))"
echo "SAY after $(stat)"
grep -iE "ktls|kernel" /tmp/pawl.out | head -5
echo "SAY done"
kill -TERM $P; sleep 1; tail -5 /tmp/pawl.out
poweroff -f
"""


def library_files(*programs):
    """What these programs load, as paths."""
    found = set()
    for each in programs:
        out = subprocess.run(["ldd", each], capture_output=True, text=True).stdout
        found |= set(re.findall(r"(/\S+) \(0x", out))
    return found


def build(root, kernel, files):
    """The file system of the machine, as an initramfs; gives its path."""
    for folder in ("bin", "usr/bin", "proc", "sys", "dev", "etc", "usr/lib/ssl"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    busybox = shutil.which("busybox") or "/bin/busybox"
    shutil.copy(busybox, root / "bin/busybox")
    shutil.copy(process.binary(), root / "pawl")
    if shutil.which("strip"):
        subprocess.run(["strip", root / "pawl"], check=True)
    for program in ("openssl", "curl"):
        shutil.copy(shutil.which(program), root / "usr/bin" / program)
    for library in library_files(process.binary(), shutil.which("openssl"), shutil.which("curl")):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    shutil.copy(files[0], root / "pair.pem")
    shutil.copy(files[1], root / "pair.key")
    (root / "ktls.cnf").write_text(
        "openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\nOptions = KTLS\n"
    )
    (root / "pawl.ini").write_text(
        process.ini(
            {
                "pawl": {"state-dir": "/tmp/state", "workers": "1", "access-log": "off"},
                "listen:secure": {"address": "127.0.0.1:8443", "tls": "main"},
                "tls:main": {"certificate": "/pair.pem", "key": "/pair.key"},
                "cache:default": {"min-free": "1M", "max-size": "400M"},
                "upstream:app": {"url": "http://127.0.0.1:8000"},
                "site:main": {"upstream": "app", "default-ttl": "1h"},
            }
        )
    )
    release = next((kernel / "lib/modules").iterdir())
    subprocess.run(["depmod", "-b", str(kernel), release.name], check=True, capture_output=True)
    needs = dict(line.split(":", 1) for line in (release / "modules.dep").read_text().splitlines())
    order = []
    for wanted in MODULES:
        name = next((each for each in needs if each.startswith(wanted + ".ko")), None)
        for each in [*reversed(needs[name].split()), name] if name else []:
            if each not in order:
                order.append(each)
    (root / "lib/modules").mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(order):
        shutil.copy(release / each, root / f"lib/modules/{number}.ko")
    (root / "modules").write_text("".join(f"/lib/modules/{number}.ko\n" for number in range(len(order))))
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = subprocess.run(["find", ".", "-print0"], cwd=root, capture_output=True, check=True).stdout
    archive = subprocess.run(
        ["cpio", "--null", "-o", "-H", "newc", "--quiet"], cwd=root, input=names, capture_output=True, check=True
    ).stdout
    image = root.parent / "initramfs.gz"
    with gzip.open(image, "wb", compresslevel=1) as out:
        out.write(archive)
    return image


def run(scenario):
    kernel = pathlib.Path(os.environ.get("KTLS_KERNEL", "/nonexistent"))
    if not (kernel / "boot").is_dir():
        raise Skip("set KTLS_KERNEL to an unpacked kernel package")
    missing = [
        each
        for each in ("qemu-system-x86_64", "busybox", "openssl", "curl", "cpio", "depmod")
        if not process.have(each) and not os.path.exists(f"/sbin/{each}")
    ]
    if missing:
        raise Skip(f"needs {', '.join(missing)}")
    root = scenario.bench.folder / "root"
    image = build(root, kernel, tlsscenario.pair(scenario.bench.folder))
    machine = [
        "qemu-system-x86_64",
        "-m",
        "1500",
        "-smp",
        "1",
        "-nographic",
        "-no-reboot",
        "-nic",
        "none",
        "-kernel",
        str(next((kernel / "boot").glob("vmlinuz-*"))),
        "-initrd",
        str(image),
        "-append",
        "console=ttyS0 quiet panic=-1 random.trust_cpu=on",
    ]
    machine += ["-accel", os.environ.get("KTLS_ACCEL", "tcg"), "-cpu", "max"]
    try:
        out = subprocess.run(machine, stdin=subprocess.DEVNULL, capture_output=True, timeout=1200).stdout.decode(
            errors="replace"
        )
    except subprocess.TimeoutExpired as late:
        out = (late.stdout or b"").decode(errors="replace")
    said = [line.partition("SAY ")[2].strip() for line in out.splitlines() if "SAY " in line]
    if not scenario.require("done" in said, f"the machine did not come to its end: {out[-1500:]}"):
        return
    for line in said:
        scenario.note(line)
    counts = [int(number) for line in said for number in re.findall(r"TlsTxSw=(\d+)", line)]
    hits = [line for line in said if line.startswith(("hit", "fill"))]
    scenario.figure("downloads that were the same", sum(", same;" in line for line in hits), len(hits), at_least=True)
    scenario.require("range same" in said, "a range was not the same")
    scenario.figure("connections whose records the kernel made (TlsTxSw), all", counts[-1])
    before = next((int(re.search(r"TlsTxSw=(\d+)", line)[1]) for line in said if line.startswith("before ")), 0)
    scenario.figure("of pawl", counts[-1] - before, 7, at_least=True)
