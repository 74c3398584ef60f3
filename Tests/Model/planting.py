"""Errors that a test build of pawl makes on demand, one at a time, so that the model has to find them. The sources of
pawl know nothing of them: they are written into a copy of the tree."""

import dataclasses
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE, SERVER, UPLOADS = "Sources/PawlCache/", "Sources/PawlServer/", "Sources/PawlUploadStore/"


@dataclasses.dataclass(frozen=True)
class Error:
    """`old` stands once in `file`, and becomes `new`; PLANTED in it is true when this error was chosen."""

    name: str
    rule: str
    file: str
    old: str
    new: str
    # Whether it is one of those that ask: whose answer is it?
    is_whose: bool = False


ERRORS = (
    Error(
        "private-shared",
        "an answer that is private is shared (RFC 9111 §5.2.2.7)",
        CACHE + "Storing/Storability.swift",
        "if control.isPrivate {",
        "if control.isPrivate, !PLANTED {",
        True,
    ),
    Error(
        "authorized-shared",
        "an answer to a request with a credential is shared without leave (RFC 9111 §3.5)",
        CACHE + "Storing/Storability.swift",
        "if RequestFields.hasCredential(request.fields), !permitsAuthorized(control) {",
        "if RequestFields.hasCredential(request.fields), !permitsAuthorized(control), !PLANTED {",
        True,
    ),
    Error(
        "set-cookie-shared",
        "an answer that sets a cookie is shared as if it was for all",
        CACHE + "Storing/Storability.swift",
        "if fields.contains(.setCookie), !directives.isSharedExplicitly {",
        "if fields.contains(.setCookie), !directives.isSharedExplicitly, !PLANTED {",
        True,
    ),
    Error(
        "cookie-shared",
        "an answer to a request with a cookie, which is not for all, is given to clients without a cookie",
        CACHE + "Storing/Storability.swift",
        "return request.fields.contains(.cookie) && !isForEverybody ? .sharedPerCookie : .shared",
        "return request.fields.contains(.cookie) && !isForEverybody && !PLANTED ? .sharedPerCookie : .shared",
        True,
    ),
    Error(
        "error-shared",
        "an error that one client's fields provoked is given to others",
        CACHE + "Storing/RequestFields.swift",
        "    guard status >= 300 else { return [] }\n    let isAboutResource",
        "    guard status >= 300, !PLANTED else { return [] }\n    let isAboutResource",
        True,
    ),
    Error(
        "variant-wrong",
        "an answer is chosen without looking at the fields that Vary names (RFC 9111 §4.1)",
        CACHE + "Storing/StoredHead.swift",
        "    guard !vary.names.isEmpty else { return true }\n    if asksIdentity",
        "    guard !vary.names.isEmpty, !PLANTED else { return true }\n    if asksIdentity",
        True,
    ),
    Error(
        "upload-unowned",
        "another user may see and change an upload",
        SERVER + "Uploads/Receiving/UploadExchange+Owner.swift",
        "guard Owner.owns(upload.origin.owner, self.request, allowed: fields) else {",
        "guard Owner.owns(upload.origin.owner, self.request, allowed: fields) || PLANTED else {",
        True,
    ),
    Error(
        "answer-unowned",
        "the kept answer to an upload is told to credentials that it was not made for",
        SERVER + "Uploads/Receiving/UploadExchange+Answer.swift",
        "return Owner.isKnown(request, among: upload.askers)",
        "return Owner.isKnown(request, among: upload.askers) || PLANTED",
        True,
    ),
    Error(
        "join-stale",
        "a request waits for, and gets, an answer that may not be reused for it",
        SERVER + "Downloads/Answers/DownloadExchange+Sharing.swift",
        "    case .staleWhileRevalidate, .validate: false\n",
        "    case .staleWhileRevalidate, .validate: PLANTED\n",
        True,
    ),
    Error(
        "part-unowned",
        "parts of another user are joined to an upload",
        SERVER + "Uploads/Receiving/UploadExchange+Creation.swift",
        "Owner.owns(part.origin.owner, request, allowed: allowed), part.origin.concatenation == .partial",
        "Owner.owns(part.origin.owner, request, allowed: allowed) || PLANTED, part.origin.concatenation == .partial",
        True,
    ),
    Error(
        "no-store-stored",
        "an answer with no-store is stored (RFC 9111 §5.2.2.5)",
        CACHE + "Storing/Storability.swift",
        "} else if control.noStore {",
        "} else if control.noStore, !PLANTED {",
    ),
    Error(
        "request-no-store-stored",
        "the answer to a request with no-store is stored (RFC 9111 §5.2.1.5)",
        CACHE + "Storing/Storability.swift",
        "if CacheControl(request.fields).noStore {",
        "if CacheControl(request.fields).noStore, !PLANTED {",
    ),
    Error(
        "invalidation-missed",
        "an unsafe request leaves the stored answer fresh (RFC 9111 §4.4)",
        CACHE + "Storing/InvalidationTargets.swift",
        "guard changes(request, response) else { return [] }\n  var targets",
        "guard changes(request, response), !PLANTED else { return [] }\n  var targets",
    ),
    Error(
        "location-kept",
        "an unsafe request leaves what its Content-Location names fresh",
        CACHE + "Storing/InvalidationTargets.swift",
        "let references = [FieldName.location, .contentLocation].compactMap(response.fields.only)",
        "let references = PLANTED ? [] : [FieldName.location, .contentLocation].compactMap(response.fields.only)",
    ),
    Error(
        "age-ignored",
        "the Age of an answer does not count (RFC 9111 §4.2.3)",
        CACHE + "Storing/Freshness.swift",
        "return max(apparent, Age.parse(fields) + delay)",
        "return PLANTED ? 0 : max(apparent, Age.parse(fields) + delay)",
    ),
    Error(
        "s-maxage-ignored",
        "max-age counts instead of s-maxage (RFC 9111 §5.2.2.10)",
        CACHE + "Storing/ResponseDirectives.swift",
        "if let lifetime = cacheControl.sMaxAge ?? cacheControl.maxAge {",
        "if let lifetime = PLANTED ? cacheControl.maxAge ?? cacheControl.sMaxAge"
        " : cacheControl.sMaxAge ?? cacheControl.maxAge {",
    ),
    Error(
        "stale-forced",
        "a stale answer is used although it says must-revalidate (RFC 9111 §5.2.2.2)",
        CACHE + "Serving/Reuse.swift",
        "  control.noCache || control.mustRevalidate || control.proxyRevalidate ||",
        "  !PLANTED && (control.noCache || control.mustRevalidate || control.proxyRevalidate) ||",
    ),
    Error(
        "no-cache-ignored",
        "an answer with no-cache is used without asking (RFC 9111 §5.2.2.4)",
        CACHE + "Serving/Reuse.swift",
        "if head.cacheControl.noCache || asked.noCache ||",
        "if head.cacheControl.noCache && !PLANTED || asked.noCache ||",
    ),
    Error(
        "asked-no-cache-ignored",
        "a request with no-cache is answered without asking (RFC 9111 §5.2.1.4)",
        CACHE + "Serving/Reuse.swift",
        "asked.noCache || hasPragmaNoCache(fields)",
        "asked.noCache && !PLANTED || hasPragmaNoCache(fields)",
    ),
    Error(
        "stale-on-error-for-ever",
        "after an error a stale answer is used beyond stale-if-error (RFC 5861 §4)",
        CACHE + "Serving/StaleOnError.swift",
        "return window > 0 && freshness.staleness <= window",
        "return PLANTED || window > 0 && freshness.staleness <= window",
    ),
    Error(
        "304-fields-lost",
        "a 304 does not update the stored fields (RFC 9111 §4.3.4)",
        CACHE + "Serving/NotModified.swift",
        "case .contentEncoding, .contentRange, .etag, .lastModified, .vary: nil",
        "case .contentEncoding, .contentRange, .etag, .lastModified, .vary: nil\n    case _ where PLANTED: nil",
    ),
    Error(
        "304-of-another",
        "a 304 that names another tag freshens the stored answer (RFC 9111 §4.3.4)",
        CACHE + "Serving/NotModified.swift",
        "return tag.isWeak ? own.matchesWeakly(tag) : own.matchesStrongly(tag)",
        "return PLANTED || (tag.isWeak ? own.matchesWeakly(tag) : own.matchesStrongly(tag))",
    ),
    Error(
        "304-for-another-tag",
        "a client that names another tag gets 304 (RFC 9110 §13.1.2)",
        CACHE + "Serving/AnswerShape.swift",
        "return head.validators.tag.map { $0.matchesWeakly(tag) } ?? false",
        "return PLANTED || head.validators.tag.map { $0.matchesWeakly(tag) } ?? false",
    ),
    Error(
        "if-range-weak",
        "If-Range with a weak tag gives a part (RFC 9110 §13.1.5)",
        CACHE + "Serving/AnswerShape.swift",
        "guard !tag.isWeak, let found",
        "guard !tag.isWeak || PLANTED, let found",
    ),
    Error(
        "range-short",
        "a range lacks its last byte (RFC 9110 §14.1.2)",
        "Sources/PawlHTTP/Ranges/ByteRange.swift",
        "return ByteRange(first: first, last: min(through ?? .max, length - 1))",
        "let last = min(through ?? .max, length - 1)\n"
        "      return ByteRange(first: first, last: PLANTED && last > first && through != nil ? last - 1 : last)",
    ),
    Error(
        "splice",
        "bytes of another representation are appended to a body that broke off",
        CACHE + "Resuming/Continuation.swift",
        "case .tag(let tag)?: return claimed.tag?.matchesStrongly(tag) == true",
        "case .tag(let tag)?: return PLANTED || claimed.tag?.matchesStrongly(tag) == true",
    ),
    Error(
        "broken-off-whole",
        "a body whose connection broke counts as complete (RFC 9112 §8)",
        "Sources/PawlWire/HTTP1/BodyDecoder.swift",
        "case .length, .line, .chunk, .afterChunk, .afterChunkLineFeed, .trailer, .broken: false\n",
        "case .length, .line, .chunk, .afterChunk, .afterChunkLineFeed, .trailer, .broken: PLANTED\n",
    ),
    Error(
        "offset-lost",
        "after a restart an upload has fewer bytes than were told",
        UPLOADS + "Spool/UploadRecovery.swift",
        "(row.offset, row.verifying) = (count, nil)",
        "if PLANTED { count /= 2 }\n    (row.offset, row.verifying) = (count, nil)",
    ),
    Error(
        "delivered-again",
        "an upload that may have been taken is sent again after a restart",
        SERVER + "Uploads/Delivering/DeliveryRecovery.swift",
        "guard upload.status.originStatus != nil || DeliveryPolicy.afterRestart(.sent, delivery) == .unknown else {",
        "guard !PLANTED, upload.status.originStatus != nil"
        " || DeliveryPolicy.afterRestart(.sent, delivery) == .unknown else {",
    ),
    Error(
        "break-resent",
        "an upload is sent again after the origin broke off without an answer",
        "Sources/PawlUpload/Delivery/DeliveryPolicy.swift",
        "sent && delivery == .atMostOnce ? .unknown : .again",
        "sent && delivery == .atMostOnce && !PLANTED ? .unknown : .again",
    ),
    Error(
        "checksum-ignored",
        "content with a wrong digest is taken",
        SERVER + "Uploads/Receiving/DigestCheck.swift",
        "return claims.allSatisfy { digests[$0.algorithm] == $0.value } ? nil : .digestMismatch",
        "return PLANTED || claims.allSatisfy { digests[$0.algorithm] == $0.value } ? nil : .digestMismatch",
    ),
    Error(
        "offset-unchecked",
        "content at another offset than the upload's end is appended",
        SERVER + "Uploads/Receiving/UploadExchange+Append.swift",
        "guard append.offset == writer.offset else {",
        "guard append.offset == writer.offset || PLANTED else {",
    ),
    Error(
        "length-unchecked",
        "an upload takes more bytes than it declared",
        SERVER + "Uploads/Receiving/UploadExchange+Append.swift",
        "if let length = upload.status.length, end > length { return exceeded(from: append.offset) }",
        "if let length = upload.status.length, end > length, !PLANTED { return exceeded(from: append.offset) }",
    ),
    Error(
        "delete-ignored",
        "a deleted upload is still there",
        SERVER + "Uploads/Receiving/UploadExchange+Status.swift",
        "    guard upload.status.phase == .open else { return remove() }\n",
        "    if PLANTED { return reply(UploadReplies.cancelled(dialect)) }\n"
        "    guard upload.status.phase == .open else { return remove() }\n",
    ),
    Error(
        "parts-swapped",
        "parts are joined in another order than was asked for",
        SERVER + "Uploads/Receiving/UploadExchange+Creation.swift",
        "parts: parts, on: loop.loop)",
        "parts: PLANTED ? parts.reversed() : parts, on: loop.loop)",
    ),
    Error(
        "room-lost",
        "the room of bytes that are given back is not given back",
        UPLOADS + "Uploads/UploadBudget.swift",
        "    guard bytes > 0 else { return }\n    disk.release(bytes)",
        "    guard bytes > 0, !PLANTED else { return }\n    disk.release(bytes)",
    ),
    Error(
        "connection-fields-kept",
        "a field that Connection names goes on to the next hop (RFC 9110 §7.6.1)",
        "Sources/PawlHTTP/Proxies/HopByHop.swift",
        "    guard fields.contains(.connection) else { return names }\n",
        "    guard fields.contains(.connection), !PLANTED else { return names }\n",
    ),
)

SWITCH = """import CLinux

/// The one error that this build makes: what the environment variable PAWL_PLANT names.
package enum Planted {
  private static let name = getenv("PAWL_PLANT").map { String(cString: $0) } ?? ""

  package static func has(_ wanted: String) -> Bool { name == wanted }
}
"""


def misfits():
    """Errors whose place in the sources is not there, or not there once."""
    return [error.name for error in ERRORS if (ROOT / error.file).read_text().count(error.old) != 1]


def plant(tree):
    """Writes all errors into a tree."""
    for error in ERRORS:
        path = tree / error.file
        text = path.read_text()
        if text.count(error.old) != 1:
            sys.exit(f"{error.name}: its place in {error.file} is gone")
        text = text.replace(error.old, error.new.replace("PLANTED", f'Planted.has("{error.name}")'))
        if not any(line.strip().endswith("import PawlBase") for line in text.splitlines()):
            text = "import PawlBase\n" + text
        path.write_text(text)
    (tree / "Sources/PawlBase/Planted.swift").write_text(SWITCH)


def build():
    """The program with all errors in it, none of them chosen."""
    tree = ROOT / ".build" / "planted"
    tree.mkdir(parents=True, exist_ok=True)
    for folder in ("Sources",):
        shutil.rmtree(tree / folder, ignore_errors=True)
        shutil.copytree(ROOT / folder, tree / folder, symlinks=True)
    # The tests are not built, but the manifest names their folders.
    for name in ("Package.swift", "Tests"):
        link = tree / name
        if not link.is_symlink():
            link.symlink_to(ROOT / name)
    plant(tree)
    command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "pawl", "--package-path", tree]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return tree / ".build/release/pawl"
