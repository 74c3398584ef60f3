"""The users of uploads: none, Basic credentials, and JWTs of which two are of the same subject."""

import base64
import json


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(subject, issue):
    head, claims = part({"alg": "HS256", "typ": "JWT"}), part({"iss": "https://i.test", "sub": subject, "jti": issue})
    return f"Bearer {head}.{claims}.c2ln{issue}"


USERS = (None, "Basic YTph", "Basic Yjpi", jwt("x", "1111"), jwt("x", "2222"), jwt("y", "3333"))


def shown(user):
    return [("Authorization", USERS[user])] if USERS[user] else []
