"""Real programs that pawl is put before, as their users run them: each on a free port of 127.0.0.1, in a folder of its
own, ended by its process id.

    with Apache(folder) as program: ... program.address ... program.size, program.digest of the large file at
    program.large

Those from PyPI are in .build/clients/venv (Deploy/test puts them there); what is not installed raises Skip.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tarfile
import zipfile

from .checks import Skip
from .content import Content
from .process import LIVING, ROOT, Nginx, free_port, wait_for

HERE = pathlib.Path(__file__).resolve().parent
VENV = ROOT / ".build" / "clients" / "venv" / "bin"
MODIFIED = 1_700_000_000  # when the files in the folders were written last
SIZE = 6_000_000  # of the large ones


def program(*names):
    """The path of the first of these programs that is here."""
    for name in names:
        found = shutil.which(name) or next(
            (p for p in (f"/usr/sbin/{name}", str(VENV / name)) if os.access(p, os.X_OK)), None
        )
        if found:
            return found
    raise Skip(f"{names[0]} is not installed")


def tree(folder, size=SIZE):
    """A folder of files with fixed dates: a page, a text of some KiB, and a large file. Returns the large one's
    digest."""
    folder.mkdir(parents=True, exist_ok=True)
    content = Content("large", size)
    (folder / "sub folder").mkdir(exist_ok=True)
    files = {
        "page.html": b"<!doctype html><meta charset=utf-8><title>Page</title><p>Gr\xc3\xbc\xc3\x9fe <a "
        b"href='sub%20folder/'>folder</a></p>",
        "text.txt": b"".join(b"line %d\n" % n for n in range(3000)),
        "large.bin": content.read(),
        "sub folder/inner.json": b'{"a": 1}',
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, (MODIFIED, MODIFIED))
    for each in (folder / "sub folder", folder):
        os.utime(each, (MODIFIED, MODIFIED))
    return content.sha256()


class Program:
    """A process that serves HTTP. `large` is the path of its large file, `digest` the SHA-256 of that."""

    large, size = "/large.bin", SIZE

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {}
        self.command = self.prepare()

    def prepare(self):
        """Writes what the program needs into its folder; the command that starts it."""
        raise NotImplementedError

    def __enter__(self):
        with open(self.folder / "program.log", "wb") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
            )
        LIVING.add(self.process)

        def listening():
            if self.process.poll() is not None:
                raise AssertionError(
                    f"{self.command[0]} ended with {self.process.returncode}: "
                    f"{(self.folder / 'program.log').read_text(errors='replace')[-800:]}"
                )
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return True
            except OSError:
                return False

        wait_for(listening, 20, self.command[0])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        LIVING.discard(self.process)


class NginxFiles(Nginx):
    """nginx with a folder: listings and compression on. `more` stands in its server block."""

    large, size = "/large.bin", SIZE

    def __init__(self, folder, more=""):
        program("nginx")
        folder = pathlib.Path(folder)
        self.digest = tree(folder / "files")
        types = "include /etc/nginx/mime.types;" if os.path.exists("/etc/nginx/mime.types") else ""
        super().__init__(
            folder,
            f"root {folder}/files; autoindex on; gzip on; gzip_types text/plain application/json; gzip_min_length "
            "1000; "
            "location = /old { return 301 /page.html; } " + more,
            http=types,
        )


class Apache(Program):
    """Apache with mod_dav over a folder, and a part of it behind Basic."""

    def prepare(self):
        server = program("apache2")
        modules = pathlib.Path("/usr/lib/apache2/modules")
        if not (modules / "mod_dav_fs.so").exists():
            raise Skip("Apache's mod_dav_fs is not installed")
        self.digest = tree(self.folder / "files")
        tree(self.folder / "files" / "own", 100_000)
        (self.folder / "lock").mkdir(exist_ok=True)
        hashed = "{SHA}" + __import__("base64").b64encode(hashlib.sha1(b"secret").digest()).decode()
        (self.folder / "users").write_text(f"anna:{hashed}\n")
        names = (
            "mpm_event",
            "authz_core",
            "authn_core",
            "authn_file",
            "authz_user",
            "auth_basic",
            "dir",
            "mime",
            "autoindex",
            "dav",
            "dav_fs",
            "deflate",
            "filter",
        )
        loads = "\n".join(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names)
        # As root, Apache serves as this user; its folders are to be his.
        user = "www-data" if os.geteuid() == 0 else None
        (self.folder / "apache.conf").write_text(f"""{loads}
ServerName dav.test
Listen 127.0.0.1:{self.port}
PidFile {self.folder}/pid
ErrorLog {self.folder}/error.log
{f"User {user}" if user else ""}
{f"Group {user}" if user else ""}
TypesConfig /etc/mime.types
DavLockDB {self.folder}/lock/db
DocumentRoot {self.folder}/files
AddOutputFilterByType DEFLATE text/plain
<Directory {self.folder}/files>
  Dav On
  Options Indexes
  Require all granted
</Directory>
<Location /own>
  AuthType Basic
  AuthName "own"
  AuthUserFile {self.folder}/users
  Require valid-user
</Location>
""")
        if user:
            for each in (self.folder, *self.folder.rglob("*")):
                shutil.chown(each, user, user)
        return [server, "-f", str(self.folder / "apache.conf"), "-DFOREGROUND"]


class PHP(Program):
    """PHP's built-in server with the application of apps/php.php."""

    large = "/download/export.bin"

    def prepare(self):
        server = program("php")
        (self.folder / "sessions").mkdir(exist_ok=True)
        digest, left, block = hashlib.sha256(), SIZE, 0
        while left:
            piece = (hashlib.sha256(b"block %d" % block).digest() * 2048)[:left]
            digest.update(piece)
            left, block = left - len(piece), block + 1
        self.digest, self.environment = digest.hexdigest(), {"EXPORT_SIZE": str(SIZE)}
        return [
            server,
            "-d",
            f"session.save_path={self.folder}/sessions",
            "-d",
            "upload_max_filesize=50M",
            "-d",
            "post_max_size=60M",
            "-S",
            f"127.0.0.1:{self.port}",
            str(HERE / "apps" / "php.php"),
        ]


class Gunicorn(Program):
    """gunicorn with the Flask application of apps/flaskapp.py."""

    large, application = "/download/file.bin", "flaskapp:app"

    def prepare(self):
        server = program("gunicorn")
        content = Content("flask", SIZE)
        self.digest = content.sha256()
        (self.folder / "file.bin").write_bytes(content.read())
        os.utime(self.folder / "file.bin", (MODIFIED, MODIFIED))
        self.environment = {
            "APP_KEY": "key of the checks",
            "APP_FOLDER": str(self.folder),
            "PYTHONPATH": str(HERE / "apps"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return [
            server,
            "--workers",
            "2",
            "--threads",
            "2",
            "--no-control-socket",
            "--bind",
            f"127.0.0.1:{self.port}",
            self.application,
        ]


class GunicornUploads(Gunicorn):
    """gunicorn with the application of apps/flaskuploads.py, which takes uploads."""

    application = "flaskuploads:app"

    def arrived(self):
        """What it was given, in order."""
        file = self.folder / "arrived.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


class HTTPServer(Program):
    """python3 -m http.server: HTTP/1.0, dates, no ranges."""

    def prepare(self):
        self.digest = tree(self.folder / "files")
        return [
            program("python3"),
            "-m",
            "http.server",
            "--bind",
            "127.0.0.1",
            "--directory",
            str(self.folder / "files"),
            str(self.port),
        ]


def wheel(folder, name, version, size):
    """A wheel with one module and one large file, made by hand, the same each time."""
    content, path = Content(f"{name}-{version}", size), folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as whole:
        members = {
            f"{name}/__init__.py": f"version = '{version}'\n",
            f"{name}/large.bin": content.read(),
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: A check\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: checks\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        members[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in (*members, f"{info}/RECORD"))
        for each, data in members.items():
            whole.writestr(zipfile.ZipInfo(each, (2024, 1, 1, 0, 0, 0)), data)
    os.utime(path, (MODIFIED, MODIFIED))
    return path


class PyPIServer(Program):
    """pypiserver with one package; whoever names anna may upload."""

    def prepare(self):
        server = program("pypi-server")
        (self.folder / "packages").mkdir(exist_ok=True)
        path = wheel(self.folder / "packages", "alpha", "1.0", SIZE)
        self.large, self.digest, self.size = (
            f"/packages/{path.name}",
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
        )
        # Everybody may: what is looked at is the way, not passwords.
        return [
            server,
            "run",
            "-i",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-P",
            ".",
            "-a",
            ".",
            "--disable-fallback",
            str(self.folder / "packages"),
        ]


def image(folder, size=SIZE):
    """An OCI image of one layer as a folder (oci:), made by hand; the layer's digest and size."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(data):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"digest": f"sha256:{digest}", "size": len(data)}

    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as whole:
        member = tarfile.TarInfo("large.bin")
        member.size = size
        whole.addfile(member, io.BytesIO(Content("layer", size).read()))
    packed = gzip.compress(tar.getvalue(), 1, mtime=0)
    layer = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **blob(packed)}
    config = {
        "architecture": "amd64",
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar.getvalue()).hexdigest()]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **blob(json.dumps(config).encode())},
        "layers": [layer],
    }
    index = {
        "schemaVersion": 2,
        "manifests": [
            {
                "mediaType": manifest["mediaType"],
                **blob(json.dumps(manifest).encode()),
                "annotations": {"org.opencontainers.image.ref.name": "1"},
            }
        ],
    }
    (folder / "index.json").write_text(json.dumps(index))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return layer["digest"], layer["size"]


class DockerRegistry(Program):
    """docker-registry with its files in the folder, empty."""

    def prepare(self):
        server = program("docker-registry")
        program("skopeo")
        (self.folder / "config.yml").write_text(f"""version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: {self.folder}/registry}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{self.port}"}}
""")
        return [server, "serve", str(self.folder / "config.yml")]


class NginxTLS(NginxFiles):
    """The same, and an application over TLS, at `secure`, that takes only who shows a certificate of the authority."""

    def __init__(self, folder, pair, authority):
        port = free_port()
        self.secure = f"https://127.0.0.1:{port}"
        super().__init__(
            folder,
            f"listen 127.0.0.1:{port} ssl; ssl_certificate {pair.certificate}; ssl_certificate_key {pair.key}; "
            f"ssl_client_certificate {authority}; ssl_verify_client optional; "
            "location = /who { if ($ssl_client_verify != SUCCESS) { return 403; } default_type text/plain; return "
            '200 "$ssl_client_s_dn | $http_client_cert"; }',
        )


# -- the examples ----------------------------------------------------------------------------------------------------
def example(name, folder, urls, keeps_hosts=False, certificates=None):
    """The text of Config/NAME, with nothing replaced but what belongs to a machine: addresses, paths, hosts (unless
    they are kept), the folder of certificates, and the upstreams' URLs: `urls` is one for all, or {name of the
    upstream: URL}. What of these an example leaves to the defaults is added."""
    lines, section, seen = [], "", set()
    for line in (ROOT / "Config" / name).read_text().splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        key = (re.match(r"([a-z-]+) *=", line) or ("", ""))[1]
        value = None
        if key == "url":
            value = urls if isinstance(urls, str) else urls[section.partition(":")[2]]
        elif key in ("address", "state-dir"):
            value = "127.0.0.1:0" if key == "address" else f"{folder}/state"
            seen.add(key)
        elif key == "path" and section.startswith(("cache", "spool")):
            value = f"{folder}/{section.replace(':', '-')}"
        elif key == "host" and not keeps_hosts:
            continue
        line = line if value is None else f"{key} = {value}"
        lines.append(line.replace("/etc/pawl/tls", str(certificates)) if certificates else line)
    if "state-dir" not in seen:
        lines += ["[pawl]", f"state-dir = {folder}/state"]
    if "address" not in seen:
        lines += ["[listen:checks]", "address = 127.0.0.1:0"]
    return "\n".join(lines) + "\n"
