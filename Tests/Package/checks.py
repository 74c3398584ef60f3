"""What a package, its tar and its texts have to be, without a machine of their own."""

import filecmp
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from debian_root import TOP, Skip


class Built:
    """The programs, and what Deploy/package makes of them, each once."""

    def __init__(self, pawl, bench, work):
        self.pawl = str(Path(pawl).resolve())
        self.bench = str(Path(bench).resolve())
        self.work = work
        self.made = {}

    def deb(self, kind="release", **environment):
        """Folder with both packages: `release`, `again` (the same once more), or `before` (of a lower version)."""
        if kind not in self.made:
            options = ["--version", "0.0.1"] if kind == "before" else []
            environment = {"PACKAGE_COMPRESSION": "none"} if kind == "before" else {}
            self.made[kind] = self.package(kind, options, environment)
        return self.made[kind]

    def tar(self):
        if "tar" not in self.made:
            self.made["tar"] = self.package("tar", ["--tar"], {})
        return self.made["tar"]

    def package(self, kind, options, environment):
        folder = self.work / kind
        run(
            TOP / "Deploy/package", "--pawl", self.pawl, "--bench", self.bench, "--output", folder, *options,
            env={**os.environ, **environment},
        )  # fmt: skip
        return folder


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, (
        f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )
    return done.stdout


def need(program):
    if not shutil.which(program):
        raise Skip(f"there is no {program}")


def sections(text):
    """Sections of a file whose header is not commented out: their keys with values, commented out or not."""
    found = {}
    current = None
    for line in text.splitlines():
        if match := re.fullmatch(r"(#?)\[([^]]*)\]", line):
            current = None if match[1] else found.setdefault(match[2], {})
        elif current is not None and (match := re.fullmatch(r"#?([a-z0-9-]+) =(?: (.*?))?(?: +# .*)?", line)):
            # A list has a line for each value.
            before = current.get(match[1])
            current[match[1]] = f"{before}, {match[2]}" if before and match[2] else match[2]
    return found


def commented_file(built):
    """pawl.ini.full has each key of each section, with the default that pawl has"""
    text = run(TOP / "Deploy/manual", "ini")
    file = built.work / "full.ini"
    file.write_text(text)
    effective = run(built.pawl, "config", "--config", file)
    assert re.search(r"^check-path = ", effective, re.M), effective
    said, known = sections(text), sections(effective)
    assert said.keys() == known.keys(), f"sections of the file {sorted(said)}, of pawl {sorted(known)}"
    for name, keys in known.items():
        assert said[name].keys() == keys.keys(), f"[{name}]: {sorted(said[name].keys() ^ keys.keys())}"
        for key, value in keys.items():
            assert said[name][key] in (None, value), f"[{name}] {key}: {said[name][key]} in the file, {value} in pawl"


def uncommented_file(built):
    """pawl.ini.full is valid with each default uncommented, and means the same"""
    lines = run(TOP / "Deploy/manual", "ini").splitlines()
    isIn = True
    for at, line in enumerate(lines):
        if re.fullmatch(r"#?\[[^]]*\]", line):
            isIn = not line.startswith("#")
        elif isIn and re.match(r"#[a-z0-9-]+ = ", line):
            lines[at] = line[1:]
    file = built.work / "uncommented.ini"
    file.write_text("\n".join(lines) + "\n")
    commented = built.work / "commented.ini"
    commented.write_text(run(TOP / "Deploy/manual", "ini"))
    run(built.pawl, "check", "--config", file)
    assert sections(run(built.pawl, "config", "--config", file)) == sections(
        run(built.pawl, "config", "--config", commented)
    )


def manual_pages(built):
    """manual pages have every command and key, and no mistakes"""
    need("man")
    pages = {"pawl.ini.5": run(TOP / "Deploy/manual", "keys")}
    for program, path, section in (("pawl", built.pawl, "8"), ("pawl-bench", built.bench, "1")):
        help = run(path, "--experimental-dump-help")
        pages[f"{program}.{section}"] = run(TOP / "Deploy/manual", "command", section, input=help)
    for name, page in pages.items():
        file = built.work / name
        file.write_text(page)
        shown = subprocess.run(
            ["man", "--warnings", "--encoding=UTF-8", "--local-file", str(file)],
            capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100"},
        )  # fmt: skip
        assert shown.returncode == 0 and not shown.stderr, f"{name}: {shown.stderr}"
        pages[name] = re.sub(r".\x08|\x1b\[[0-9;]*m", "", shown.stdout)
    for line in run(built.pawl, "--help").splitlines():
        if match := re.match(r"  ([a-z]+)  +[A-Z]", line):
            assert f"pawl {match[1]}" in pages["pawl.8"], match[1]
    keys = re.findall(r"^\| `([a-z0-9-]+)`", (TOP / "Config/README.md").read_text(), re.M)
    assert len(keys) > 90, keys
    for key in keys:
        assert re.search(rf"^ +{key}\b", pages["pawl.ini.5"], re.M), key


# What each shell does with a line: (line, words that it offers, or what becomes of the line if it is only one).
COMPLETED = {
    "pawl": [
        ("pawl re", {"reload", "reopen-logs"}),
        ("pawl uploads re", {"resend"}),
        ("pawl status --", {"--config", "--state", "--json", "--version", "--help"}),
        ("pawl check --config ./only", {"only.ini"}),
        ("pawl log-level war", {"warning"}),
    ],
    "pawl-bench": [("pawl-bench res", {"resume"}), ("pawl-bench hit --html ./only", {"only.ini"})],
}
# A line is completed as bash does it for TAB.
IN_BASH = """
source "$1"; shift
COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
spec=($(complete -p "$1")); "${spec[@]: -2:1}" "$1" "${@: -1}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
# In zsh only the line editor completes: it runs in a terminal of its own. The key offers all that fits, one a line.
IN_ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1= PS2= fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; zle -C offered complete-word offer
compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- "${(@)found}" >>offers; builtin compadd "$@"; }
offer() { _main_complete; }
bindkey "^I" offered; print ready >begun'
while [[ ! -e begun ]]; do sleep 0.05; done
zpty -w -n shell "$1"$'\t'
zpty -w shell $'\\C-u print done >ended'
for try in {1..200}; do [[ -e ended ]] && break; zpty -r -t shell >/dev/null; sleep 0.05; done
zpty -d shell
cat offers
"""


def offered(shell, program, script, line, folder):
    """The words that a shell offers at the end of a line."""
    if shell == "bash":
        return run("bash", "-c", IN_BASH, "bash", script, *line.split(), cwd=folder).split()
    if shell == "fish":
        command = f"source {script}; complete --do-complete '{line}'"
        return [word.split("\t")[0] for word in run("fish", "--no-config", "-c", command, cwd=folder).splitlines()]
    return run("zsh", "-f", "-c", IN_ZSH, "zsh", line, cwd=folder).split()


def completions(built):
    """bash, zsh and fish complete commands, options, values and files"""
    for shell in ("bash", "zsh", "fish"):
        if not shutil.which(shell):
            print(f"         ({shell} is not there)")
            continue
        for program, path in (("pawl", built.pawl), ("pawl-bench", built.bench)):
            text = run(path, "--generate-completion-script", shell)
            for line, wanted in COMPLETED[program]:
                with tempfile.TemporaryDirectory(dir=built.work) as folder:
                    script = Path(folder) / f"_{program}"
                    script.write_text(text)
                    (Path(folder) / "only.ini").touch()
                    # zsh leaves out what the line has of a path already.
                    words = {word.removeprefix("./") for word in offered(shell, program, script, line, folder)}
                    assert words == wanted, f"{shell}: {line!r}: {sorted(words)}"


def licences(built):
    """the licence of every Swift package is in the copyright file"""
    urls = re.findall(r'\.package\(url: "([^"]*)"', (TOP / "Package.swift").read_text())
    copyright = (TOP / "Deploy/debian/copyright").read_text()
    assert len(urls) >= 4
    for url in urls:
        assert re.search(rf"^(Comment:)? {re.escape(url)}\b|^Comment: {re.escape(url)}\b", copyright, re.M), url


def exposure(built):
    """systemd-analyze security finds at most 1.5 of exposure, and no mistakes"""
    need("systemd-analyze")
    run("systemd-analyze", "security", "--offline=true", "--threshold=15", TOP / "Deploy/pawl.service")


def same_bytes(built):
    """packages that are built twice have the same bytes"""
    need("dpkg-buildpackage")
    need("dh")
    once, again = built.deb(), built.deb("again")
    names = sorted(path.name for path in once.glob("*.deb"))
    assert {name.split("_")[0] for name in names} == {"pawl", "pawl-bench"}, names
    _, different, wrong = filecmp.cmpfiles(once, again, names, shallow=False)
    assert not different and not wrong, f"{different} {wrong}"


def lintian(built):
    """lintian has no error and no warning"""
    need("lintian")
    need("dh")
    found = run("lintian", "--allow-root", "--fail-on=error,warning", *sorted(built.deb().glob("*.deb")))
    assert not found, found


def archive(built):
    """the tar has what the package has, and its pawl runs where it is unpacked"""
    (path,) = built.tar().glob("*.tar.xz")
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "-xf", path, "-C", folder)
        (top,) = Path(folder).iterdir()
        names = {str(file.relative_to(top)) for file in top.rglob("*") if not file.is_dir()}
        for name in (
            "LICENSE", "README.md", "bin/pawl", "bin/pawl-bench", "lib/systemd/system/pawl.service",
            "lib/systemd/system/pawl.socket",
            "lib/sysusers.d/pawl.conf", "lib/tmpfiles.d/pawl.conf", "share/bash-completion/completions/pawl",
            "share/zsh/site-functions/_pawl", "share/fish/vendor_completions.d/pawl.fish", "share/man/man8/pawl.8",
            "share/man/man5/pawl.ini.5", "share/man/man1/pawl-bench.1", "share/pawl/pawl.ini",
            "share/pawl/pawl.ini.full",
            "share/doc/pawl/Config/tls.ini", "share/doc/pawl/copyright",
        ):  # fmt: skip
            assert name in names, f"no {name} in {sorted(names)}"
        assert "ExecStart=/usr/local/bin/pawl serve" in (top / "lib/systemd/system/pawl.service").read_text()
        assert run(top / "bin/pawl", "version").startswith("pawl ")
        for ini in ("pawl.ini", "pawl.ini.full"):
            run(top / "bin/pawl", "check", "--offline", "--config", top / "share/pawl" / ini)


TEXTS = [commented_file, uncommented_file, manual_pages, completions, licences, exposure]
PACKAGES = [same_bytes, lintian, archive]
