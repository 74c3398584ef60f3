"""Which checks a run without `--over` repeats over TLS and HTTP/2: the beginnings of their names. The full matrix is `--over all`.

Checks that are for one transport only run in any case.
"""

DEFAULT = {
    "tls": ("",),
    "h2": ("",),
    "h2c": ("",),
}
