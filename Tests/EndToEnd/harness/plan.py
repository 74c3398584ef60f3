"""Which checks a run without `--over` repeats over TLS and HTTP/2: the beginnings of their names. The full matrix is `--over all`.

Everything runs in clear, and checks that are not for HTTP/1.1 in clear run in any case. What is repeated here is what meets the wire most:
the proxy, downloads cut and resumed, every version of uploads, real clients, the life of connections. What happens on disks is not.
"""

DEFAULT = {
    "tls": ("proxy:", "client:", "ranges:", "resume:", "life:", "upload rows:", "upload client: curl by hand", "upload client: curl with",
            "upload client: tuspy resumes", "upload client: aiotus resumes", "upload client: plain", "upload client: Chromium, by hand",
            "upload client: Chromium, tus-js-client tus-v1", "upload plain:"),
    "h2": ("proxy:", "client:", "ranges:", "resume:", "life:", "log:", "endure:", "tags:", "private:", "upload rows:", "upload tus:", "upload owner:",
           "upload dispatch:", "upload plain:", "upload takeover:", "upload edges:", "upload client:"),
    "h2c": ("client: curl", "client: h2load", "client: nghttp", "proxy:", "resume:", "ranges:", "upload rows:", "upload client: curl by hand"),
}

# What measures time, memory or turns, or fills disks: nothing runs beside it.
ALONE = ("bar:", "abuse:", "endure:", "h2: two large", "h2: Priority", "h2: PRIORITY_UPDATE")
