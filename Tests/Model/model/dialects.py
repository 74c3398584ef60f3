"""What each upload protocol has a client say: interop versions 3 to 10 of the IETF draft, and tus 1.0.0."""

import base64
import hashlib

TUS = 0
VERSIONS = (3, 4, 5, 6, 7, 8, 9, 10)


def completes(version, done):
    if version == 3:
        return ("Upload-Incomplete", "?0" if done else "?1")
    return ("Upload-Complete", "?1" if done else "?0")


def common(version):
    if version == TUS:
        return [("Tus-Resumable", "1.0.0")]
    return [("Upload-Draft-Interop-Version", str(version))]


def creation(version, done, length, body):
    fields = common(version)
    if version == TUS:
        fields.append(("Upload-Length", str(length)))
        if body:
            fields.append(("Content-Type", "application/offset+octet-stream"))
        return fields
    fields.append(completes(version, done))
    fields.append(("Content-Type", "application/x-model"))
    if version >= 6 and not done:
        fields.append(("Upload-Length", str(length)))
    return fields


def append(version, offset, done):
    fields = common(version) + [("Upload-Offset", str(offset))]
    if version == TUS:
        return fields + [("Content-Type", "application/offset+octet-stream")]
    fields.append(completes(version, done))
    if version >= 6:
        fields.append(("Content-Type", "application/partial-upload"))
    return fields


def checksum(data, right):
    octets = hashlib.sha1(bytes(data) + (b"" if right else b"!")).digest()
    return ("Upload-Checksum", "sha1 " + base64.b64encode(octets).decode())


def said_complete(version, answer):
    """Whether the answer says that the upload is complete; None where it says nothing."""
    if version == TUS:
        return None
    text = answer.get("Upload-Incomplete" if version == 3 else "Upload-Complete")
    if text not in ("?0", "?1"):
        return None
    return (text == "?1") != (version == 3)


def told_offset(answer):
    text = answer.get("Upload-Offset")
    return int(text) if text and text.isdigit() else None
