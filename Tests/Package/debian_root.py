"""Fresh Debian 12 roots from the machine's own mirror, kept below .build/package."""

import hashlib
import shutil
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
CACHE = TOP / ".build/package"


class Skip(Exception):
    """Why a test cannot run on this machine."""


def apt_settings():
    """What apt of this machine says about reaching the mirror, as options: a root made elsewhere needs the same."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    names = (
        "Acquire::http",
        "Acquire::https",
        "Acquire::Check-Valid-Until",
        "Acquire::Check-Date",
        "Acquire::ForceIPv4",
    )
    return [line.rstrip(";") for line in dump.splitlines() if line.startswith(names) and not line.endswith(' "";')]


def apt_sources():
    """One-line sources of the Debian archive that apt of this machine uses for Debian 12."""
    form = "$(REPO_URI) $(RELEASE) $(CODENAME) $(COMPONENT) $(ORIGIN)"
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    sources = []
    for line in sorted(set(listing.splitlines())):
        url, release, codename, component, origin = (line.split(" ") + [""] * 5)[:5]
        if origin == "Debian" and codename.startswith("bookworm") and component == "main":
            sources.append(f"deb [signed-by={key}] {url} {release if '/' in release else codename} {component}")
    if not sources:
        raise Skip("apt has no mirror of Debian 12, or has not read its lists (apt-get update)")
    return sources


def root(name, include=(), download=()):
    """A folder with a Debian 12 root, which is made the first time. It must not be changed.

    - include: packages that are installed.
    - download: packages that are left in its archives with all they depend on: apt installs them without a network.
    """
    for program in ("mmdebstrap", "apt-get"):
        if not shutil.which(program):
            raise Skip(f"there is no {program}")
    recipe = repr([sorted(include), sorted(download), apt_sources(), apt_settings()])
    folder = CACHE / f"{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    making = folder.with_suffix(".making")
    shutil.rmtree(making, ignore_errors=True)
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--format=directory", "--skip=cleanup/apt"]
    if include:
        command.append(f"--include={','.join(include)}")
    for setting in apt_settings():
        command.append(f"--aptopt={setting}")
    if download:
        command.append(
            '--customize-hook=chroot "$1" sh -c "rm -f /var/cache/apt/archives/*.deb && apt-get install --yes '
            f'--download-only --no-install-recommends -o APT::Keep-Downloaded-Packages=true {" ".join(download)}"'
        )
    made = subprocess.run(
        [*command, "bookworm", str(making), "-"], input="\n".join(apt_sources()) + "\n", capture_output=True, text=True
    )
    if made.returncode:
        shutil.rmtree(making, ignore_errors=True)
        raise Skip(f"mmdebstrap cannot make a root: {made.stderr.strip().splitlines()[-1:]}")
    making.rename(folder)
    return folder
