"""Which checks a run without `--over` repeats over TLS and HTTP/2. The full matrix is `--over all`.

Everything runs in clear, and checks that are not for HTTP/1.1 in clear run in any case. What is repeated here is what
meets the wire most: the proxy, downloads cut and resumed, every version of uploads, tus, limits, real clients, the end
of connections. What happens on disks is not. A check is chosen by its area, or by a tag: "every" (over each transport),
"tls", "h2", "h2c".
"""

EVERY = {"proxy", "ranges", "resume", "agree", "upload rows"}

AREAS = {
    "tls": EVERY | {"client", "life", "damaged running", "upload plain"},
    "h2": EVERY
    | {"client", "life", "log", "tags", "private", "damaged running", "crowd"}
    | {"upload tus", "upload owner", "upload takeover", "upload edges", "upload plain"},
    "h2c": EVERY,
}

# Checks whose sentences are made from a table carry no tags of their own: of the uploads by real clients, some
# combinations.
_EVERY_UPLOADER = ("curl by hand, interop version 3", "curl by hand, interop version 6")
_BROWSER = ("Chromium, by hand, tus, the", "Chromium, tus-js-client tus-v1, another")
UPLOADERS = {
    "tls": _EVERY_UPLOADER
    + _BROWSER
    + (
        "curl with",
        "tuspy resumes",
        "aiotus resumes",
        "tus-js-client, tus-v1 resumes",
        "tus-js-client, ietf-draft-05 resumes",
    ),
    "h2": _EVERY_UPLOADER
    + _BROWSER
    + (
        "curl",
        "plain",
        "Chromium, by hand, interop version 6, another",
        "Chromium, by hand, more",
        "Chromium, Uppy, the",
    )
    + ("Chromium, tus-js-client ietf-draft-05, the", "Chromium, tus-js-client loses the last answer, the"),
    "h2c": _EVERY_UPLOADER,
}

# What measures time, memory or turns, or fills disks: nothing runs beside it. So is a check with the tag "alone".
ALONE = {"acceptance", "abuse", "endure", "slow"}


def is_repeated(each, over):
    """Whether a run without `--over` repeats a check over this transport."""
    if each.area in AREAS[over] or "every" in each.tags or over in each.tags:
        return True
    if each.area == "client" and over == "h2c":
        return each.sentence.startswith(("curl", "h2load", "nghttp"))
    return each.area == "upload client" and each.sentence.startswith(UPLOADERS[over])


def is_alone(each):
    return each.area in ALONE or "alone" in each.tags
