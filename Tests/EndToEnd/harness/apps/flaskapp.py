"""A small Flask application as gunicorn runs it: a login that keeps a session in its cookie, forms with a token, an
upload, and downloads by send_file (no-cache and a tag) and of an archive that is made anew each time."""

import hashlib
import hmac
import io
import os
import secrets
import time
import zipfile

import flask

app = flask.Flask(__name__)
app.secret_key = os.environ["APP_KEY"]
FOLDER = os.environ["APP_FOLDER"]
PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1>{1}"


def token():
    return flask.session.setdefault("token", secrets.token_hex(8))


def form(action, inputs, more=""):
    return f'<form method="post" action="{action}" {more}><input type="hidden" name="token" value="{token()}">{inputs}<button>Go</button></form>'


@app.before_request
def checked():
    if flask.request.method == "POST" and not hmac.compare_digest(
        flask.session.get("token", ""), flask.request.form.get("token", "-")
    ):
        flask.abort(403)
    if flask.request.path.startswith(("/account", "/download", "/export", "/upload")) and "user" not in flask.session:
        return flask.redirect(flask.url_for("login", next=flask.request.path))


@app.get("/")
def start():
    said = "".join(f"<p class=said>{each}</p>" for each in flask.get_flashed_messages())
    return PAGE.format("Start", said + f'<p id="who">{flask.session.get("user", "nobody")}</p>')


@app.route("/login", methods=["GET", "POST"])
def login():
    if flask.request.method == "GET":
        return PAGE.format("Log in", form("/login", '<input name="name"><input name="password" type="password">'))
    if flask.request.form["password"] != "secret":
        return PAGE.format("Log in", "<p>Wrong password</p>"), 401
    flask.session["user"] = flask.request.form["name"]
    flask.flash("Welcome")
    answer = flask.redirect(flask.url_for("account", _external=True), 303)
    answer.set_cookie("theme", "dark", samesite="Lax")
    answer.set_cookie("seen", "1", httponly=True)
    return answer


@app.get("/account")
def account():
    return PAGE.format(
        "Account",
        f'<p id="who">{flask.session["user"]}, {flask.request.cookies.get("theme")}</p>'
        + form("/upload", '<input type="file" name="file">', 'enctype="multipart/form-data"'),
    )


@app.post("/upload")
def upload():
    file = flask.request.files["file"]
    data = file.read()
    return {"name": file.filename, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@app.get("/download/file.bin")
def file():
    return flask.send_file(os.path.join(FOLDER, "file.bin"), as_attachment=True)


@app.get("/download/archive.zip")
def archive():
    """A time stands in it, so that no two of them are equal."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as whole:
        whole.writestr("made.txt", str(time.time_ns()))
        whole.write(os.path.join(FOLDER, "file.bin"), "file.bin")
    return flask.Response(
        made.getvalue(), mimetype="application/zip", headers={"Content-Disposition": "attachment; filename=archive.zip"}
    )


@app.get("/export/report.bin")
def report():
    """Without a validator, and without ranges."""
    with open(os.path.join(FOLDER, "file.bin"), "rb") as opened:
        return flask.Response(
            opened.read(),
            mimetype="application/octet-stream",
            headers={"Content-Disposition": "attachment; filename=report.bin"},
        )


@app.get("/attachments/file.bin")
def attachment():
    return flask.send_file(os.path.join(FOLDER, "file.bin"))


@app.get("/events")
def events():
    def said():
        for number in range(3):
            yield f"data: {number}\n\n"
            time.sleep(0.1)

    return flask.Response(said(), mimetype="text/event-stream")


@app.get("/logout")
def logout():
    flask.session.clear()
    return flask.redirect("/")
