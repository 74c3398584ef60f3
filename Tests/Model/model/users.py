"""The users of a history, and how each shows who it is."""

USERS = (
    (),
    (("Cookie", "sid=a"),),
    (("Cookie", "sid=b"),),
    (("Authorization", "Bearer t3"),),
    (("Authorization", "Bearer t4"),),
    (("X-Api-Key", "k5"),),
    (("X-Api-Key", "k6"),),
    (("Cookie", "_ga=GA1.2.77"),),
    (("Cookie", "sid=a"), ("Authorization", "Bearer t3")),
)
COOKIES = {"sid=a": 1, "sid=b": 2}
TOKENS = {"Bearer t3": 3, "Bearer t4": 4}
KEYS = {"k5": 5, "k6": 6}


def cookies(fields):
    """The cookies that count: those of analytics do not (Config/README.md, ignore-cookies)."""
    found = []
    for name, value in fields:
        if name.lower() == "cookie":
            found += [each.strip() for each in value.split(";") if each.strip() and not each.strip().startswith("_ga")]
    return tuple(sorted(found))


def identity_of(request, declares):
    """The user as the origin tells it from a request. `declares`: whether its answer says, as RFC 9111 wants it, that
    it depends on that field; an answer that does not is the same for all."""
    for each in cookies(request.fields):
        if each in COOKIES and declares("Cookie"):
            return COOKIES[each]
    token = request.get("Authorization")
    if token in TOKENS and declares("Authorization"):
        return TOKENS[token]
    return KEYS.get(request.get("X-Api-Key"), 0) if declares("X-Api-Key") else 0
