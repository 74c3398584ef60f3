"""A small Flask application that takes uploads and cannot resume them: a form, raw bodies, and who may. Each that came
is a line of arrived.jsonl."""

import hashlib
import json
import os

import flask

app = flask.Flask(__name__)
FOLDER = os.environ["APP_FOLDER"]


def arrived(**what):
    with open(os.path.join(FOLDER, "arrived.jsonl"), "a") as file:
        file.write(json.dumps(what) + "\n")
    return what, 201


@app.get("/")
def start():
    return (
        '<!doctype html><title>Uploads</title><form method="post" action="/files" enctype="multipart/form-data">'
        '<input name="title"><input type="file" name="file"><button>Send</button></form>'
    )


@app.get("/may-upload")
def may_upload():
    return "", 204, {"X-User": "anna"}


@app.post("/files")
def form():
    file = flask.request.files["file"]
    data = file.read()
    return arrived(
        name=file.filename,
        title=flask.request.form.get("title"),
        kind=flask.request.form.get("kind"),
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )


@app.post("/videos/<name>")
@app.post("/api/<name>")
def raw(name):
    data = flask.request.get_data()
    return arrived(name=name, type=flask.request.content_type, size=len(data), sha256=hashlib.sha256(data).hexdigest())
