/// The field names that pawl reads. Each is one byte, so that a look-up compares bytes and not text. Every other name is
/// ``other``; its spelling is in the head in which it came.
package enum FieldName: UInt8, CaseIterable, Sendable {
  case other
  // Framing and connection (RFC 9112, RFC 9110 §7.6)
  case connection, contentLength, transferEncoding, host, upgrade, te, trailer, keepAlive, proxyConnection, expect
  case via, maxForwards, proxyAuthenticate, proxyAuthorization, http2Settings
  // Representation (RFC 9110 §8)
  case contentType, contentEncoding, contentLanguage, contentLocation, contentRange, contentDisposition, contentMD5
  case contentDigest, reprDigest, digest, etag, lastModified
  // Control and preconditions (RFC 9110 §13, §14; RFC 9111)
  case range, ifRange, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, acceptRanges, requestRange
  case cacheControl, cdnCacheControl, pragma, age, date, expires, vary, warning, cacheStatus, proxyStatus
  // Requests
  case accept, acceptEncoding, acceptLanguage, authorization, cookie, userAgent, referer, origin
  // Responses
  case location, setCookie, server, retryAfter, allow, altSvc, link, refresh
  // Added by proxies
  case forwarded, xForwardedFor, xForwardedProto, xForwardedHost, xForwardedPort, xRealIP, xRequestID, cdnLoop
  // Resumable uploads and tus
  case uploadDraftInteropVersion, uploadComplete, uploadIncomplete, uploadOffset, uploadLength, uploadLimit
  case uploadChecksum, uploadMetadata, uploadConcat, uploadDeferLength, uploadExpires, tusResumable, incremental
  case xHTTPMethodOverride
  // Upgrades
  case secWebSocketKey, secWebSocketVersion, secWebSocketProtocol, secWebSocketExtensions, secWebSocketAccept

  /// The name as pawl writes it.
  package var spelling: StaticString {
    switch self {
    case .other: ""
    case .connection: "Connection"
    case .contentLength: "Content-Length"
    case .transferEncoding: "Transfer-Encoding"
    case .host: "Host"
    case .upgrade: "Upgrade"
    case .te: "TE"
    case .trailer: "Trailer"
    case .keepAlive: "Keep-Alive"
    case .proxyConnection: "Proxy-Connection"
    case .expect: "Expect"
    case .via: "Via"
    case .maxForwards: "Max-Forwards"
    case .proxyAuthenticate: "Proxy-Authenticate"
    case .proxyAuthorization: "Proxy-Authorization"
    case .http2Settings: "HTTP2-Settings"
    case .contentType: "Content-Type"
    case .contentEncoding: "Content-Encoding"
    case .contentLanguage: "Content-Language"
    case .contentLocation: "Content-Location"
    case .contentRange: "Content-Range"
    case .contentDisposition: "Content-Disposition"
    case .contentMD5: "Content-MD5"
    case .contentDigest: "Content-Digest"
    case .reprDigest: "Repr-Digest"
    case .digest: "Digest"
    case .etag: "ETag"
    case .lastModified: "Last-Modified"
    case .range: "Range"
    case .ifRange: "If-Range"
    case .ifMatch: "If-Match"
    case .ifNoneMatch: "If-None-Match"
    case .ifModifiedSince: "If-Modified-Since"
    case .ifUnmodifiedSince: "If-Unmodified-Since"
    case .acceptRanges: "Accept-Ranges"
    case .requestRange: "Request-Range"
    case .cacheControl: "Cache-Control"
    case .cdnCacheControl: "CDN-Cache-Control"
    case .pragma: "Pragma"
    case .age: "Age"
    case .date: "Date"
    case .expires: "Expires"
    case .vary: "Vary"
    case .warning: "Warning"
    case .cacheStatus: "Cache-Status"
    case .proxyStatus: "Proxy-Status"
    case .accept: "Accept"
    case .acceptEncoding: "Accept-Encoding"
    case .acceptLanguage: "Accept-Language"
    case .authorization: "Authorization"
    case .cookie: "Cookie"
    case .userAgent: "User-Agent"
    case .referer: "Referer"
    case .origin: "Origin"
    case .location: "Location"
    case .setCookie: "Set-Cookie"
    case .server: "Server"
    case .retryAfter: "Retry-After"
    case .allow: "Allow"
    case .altSvc: "Alt-Svc"
    case .link: "Link"
    case .refresh: "Refresh"
    case .forwarded: "Forwarded"
    case .xForwardedFor: "X-Forwarded-For"
    case .xForwardedProto: "X-Forwarded-Proto"
    case .xForwardedHost: "X-Forwarded-Host"
    case .xForwardedPort: "X-Forwarded-Port"
    case .xRealIP: "X-Real-IP"
    case .xRequestID: "X-Request-Id"
    case .cdnLoop: "CDN-Loop"
    case .uploadDraftInteropVersion: "Upload-Draft-Interop-Version"
    case .uploadComplete: "Upload-Complete"
    case .uploadIncomplete: "Upload-Incomplete"
    case .uploadOffset: "Upload-Offset"
    case .uploadLength: "Upload-Length"
    case .uploadLimit: "Upload-Limit"
    case .uploadChecksum: "Upload-Checksum"
    case .uploadMetadata: "Upload-Metadata"
    case .uploadConcat: "Upload-Concat"
    case .uploadDeferLength: "Upload-Defer-Length"
    case .uploadExpires: "Upload-Expires"
    case .tusResumable: "Tus-Resumable"
    case .incremental: "Incremental"
    case .xHTTPMethodOverride: "X-HTTP-Method-Override"
    case .secWebSocketKey: "Sec-WebSocket-Key"
    case .secWebSocketVersion: "Sec-WebSocket-Version"
    case .secWebSocketProtocol: "Sec-WebSocket-Protocol"
    case .secWebSocketExtensions: "Sec-WebSocket-Extensions"
    case .secWebSocketAccept: "Sec-WebSocket-Accept"
    }
  }

  /// Recognises a name without regard to case. Never allocates.
  package init(_ name: some Collection<UInt8>) {
    self = FieldNameTable.shared.find(name)
  }
}

/// A hash table of the names in lower case, with open addressing. Almost every name is found at the first position that is tried.
private struct FieldNameTable: Sendable {
  static let shared = FieldNameTable()
  private static let mask = 1023
  private var slots = [UInt8](repeating: 0, count: mask + 1)
  private var names: [[UInt8]] = []

  private init() {
    for name in FieldName.allCases {
      names.append(name.spelling.withUTF8Buffer { $0.map(\.lowercasedASCII) })
      guard name != .other else { continue }
      var slot = Self.hash(names[Int(name.rawValue)])
      while slots[slot] != 0 { slot = (slot + 1) & Self.mask }
      slots[slot] = name.rawValue
    }
  }

  private static func hash(_ name: some Collection<UInt8>) -> Int {
    var hash: UInt32 = 2_166_136_261
    for byte in name { hash = (hash ^ UInt32(byte.lowercasedASCII)) &* 16_777_619 }
    return Int(truncatingIfNeeded: hash ^ (hash >> 15)) & mask
  }

  func find(_ name: some Collection<UInt8>) -> FieldName {
    guard name.count <= 32 else { return .other }
    var slot = Self.hash(name)
    while slots[slot] != 0 {
      let candidate = names[Int(slots[slot])]
      if candidate.count == name.count, zip(candidate, name).allSatisfy({ $0 == $1.lowercasedASCII }) {
        return FieldName(rawValue: slots[slot]) ?? .other
      }
      slot = (slot + 1) & Self.mask
    }
    return .other
  }
}
