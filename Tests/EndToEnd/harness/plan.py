"""Which checks a run without `--over` repeats over TLS and HTTP/2: the beginnings of their names. The full matrix is `--over all`.

Everything runs in clear, and checks that are not for HTTP/1.1 in clear run in any case. What is repeated here is what meets the wire most:
the proxy, downloads cut and resumed, every version of uploads, tus, limits, real clients, the end of connections. What happens on disks is not.
"""

# Over each transport: downloads cut and resumed, all upload versions, tus, limits, drain.
EACH = ("proxy:", "ranges:", "resume:", "splice: unkept:", "splice: a stored head", "agree:", "life: SIGTERM drains", "life: drain-timeout", "upload rows:", "upload tus: creation, HEAD",
        "upload tus: a PATCH cut", "upload tus: the client goes", "upload tus: no 1xx", "upload tus: checksum", "upload tus: termination",
        "upload tus: parts sent side by side", "upload limits: max-upload:", "upload limits: spool full", "upload limits: a sender below",
        "upload client: curl by hand, interop version 3", "upload client: curl by hand, interop version 6", "upload client: curl by hand asks")

# Real uploads by what applications use, of the many combinations that `--over all` has.
BROWSERS = ("upload client: Chromium, by hand, tus, the", "upload client: Chromium, by hand, interop version 6, another",
            "upload client: Chromium, by hand, more", "upload client: Chromium, tus-js-client tus-v1, another", "upload client: Chromium, tus-js-client ietf-draft-05, the",
            "upload client: Chromium, tus-js-client loses the last answer, the", "upload client: Chromium, Uppy, the")

DEFAULT = {
    "tls": EACH + ("client:", "life:", "damaged running:", "upload client: curl with", "upload client: tuspy resumes", "upload client: aiotus resumes",
                   "upload client: tus-js-client, tus-v1 resumes", "upload client: tus-js-client, ietf-draft-05 resumes", "upload client: plain",
                   "upload plain:", BROWSERS[0], BROWSERS[3]),
    "h2": EACH + BROWSERS + ("client:", "life:", "log:", "tags:", "private:", "damaged running:", "crowd:", "whose: nobody gets what was made for another when all ask",
                             "upload tus:", "upload owner:", "upload takeover:", "upload edges:", "upload plain:",
                             "upload client: curl", "upload client: plain", "upload client: a plain",
                             "compress: a kept", "compress: on a connection", "compress: 304", "compress: Range", "compress: a cold", "compress: what is not",
                             "compress: an event", "compress: pages of users"),
    "h2c": EACH + ("client: curl", "client: h2load", "client: nghttp"),
}

# What measures time, memory or turns, or fills disks: nothing runs beside it.
ALONE = ("bar:", "abuse:", "endure:", "slow:", "h2: two large", "h2: Priority", "h2: PRIORITY_UPDATE")
