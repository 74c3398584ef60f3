/// A request method; case-sensitive (RFC 9110 §9.1).
package enum Method: Hashable, Sendable {
  case get, head, post, put, delete, options, trace, connect, patch
  case other([UInt8])

  package init(_ token: Bytes) {
    for method in Self.known {
      if let spelling = method.spelling, token.equals(spelling) {
        self = method
        return
      }
    }
    self = .other(Array(token))
  }

  package init(_ token: some Collection<UInt8>) { self.init(Array(token)[...]) }

  package var bytes: [UInt8] {
    var output: [UInt8] = []
    output.append(atMost: count, write)
    return output
  }

  package var count: Int {
    if case .other(let token) = self { return token.count }
    return spelling?.utf8CodeUnitCount ?? 0
  }

  package func write(to output: inout ByteWriter) {
    if let spelling { return output.put(spelling) }
    if case .other(let token) = self { output.put(token) }
  }

  /// The spelling; `nil` for an unknown method.
  private var spelling: StaticString? {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .trace: "TRACE"
    case .connect: "CONNECT"
    case .patch: "PATCH"
    case .other: nil
    }
  }

  /// Whether the method is safe (RFC 9110 §9.2.1). Some methods are safe by a specification of their own (RFC 4918 §9.1, RFC 3253
  /// §3.6, RFC 5323 §2, and the draft about QUERY).
  package var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace: true
    case .post, .put, .delete, .connect, .patch: false
    case .other(let token): Self.safeExtensions.contains { token[...].equals($0) }
    }
  }

  /// Whether the method is GET or HEAD, which retrieve a representation or its fields (RFC 9110 §9.3.1, §9.3.2).
  package var isRetrieval: Bool { self == .get || self == .head }

  /// Whether the method is idempotent (RFC 9110 §9.2.2).
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  private static let safeExtensions: [StaticString] = ["PROPFIND", "REPORT", "SEARCH", "QUERY"]
  private static let known: [Method] = [.get, .head, .post, .put, .delete, .options, .trace, .connect, .patch]
}

/// The version of a message: HTTP/1.0, HTTP/1.1 (also for 1.2 to 1.9) or HTTP/2.
package struct HTTPVersion: Hashable, Sendable {
  package var major: UInt8
  package var minor: UInt8
  package init(major: UInt8 = 1, minor: UInt8) { (self.major, self.minor) = (major, minor) }
  package static let http10 = HTTPVersion(minor: 0)
  package static let http11 = HTTPVersion(minor: 1)
  package static let http2 = HTTPVersion(major: 2, minor: 0)

  /// Whether recipients of this version understand 1xx responses (RFC 9110 §15.2).
  package var takesInterim: Bool { major > 1 || minor >= 1 }

  /// The version in the form of access logs.
  package var text: StaticString {
    switch (major, minor) {
    case (2, _): "HTTP/2.0"
    case (_, 0): "HTTP/1.0"
    case _: "HTTP/1.1"
    }
  }
}

/// How the end of the content of a message is determined (RFC 9112 §6.3).
package enum BodyFraming: Hashable, Sendable {
  case none
  case length(UInt64)
  case chunked
  /// Until the connection closes; responses only.
  case untilClose
}

/// A request's control data and fields.
package struct RequestHead: Sendable, Equatable {
  package var method: Method
  /// In origin-form, as it is forwarded and used in the cache key: `/path?query`, or `*` for `OPTIONS *`.
  package var target: Bytes
  /// Host and port, by which the site is found: from an absolute target, else from `Host`. In lower case; empty when an HTTP/1.0
  /// request has neither.
  package var authority: Bytes
  package var version: HTTPVersion
  package var fields: Fields
  package var framing: BodyFraming

  package init(
    method: Method, target: Bytes, authority: Bytes = [], version: HTTPVersion = .http11, fields: Fields = Fields(),
    framing: BodyFraming = .none
  ) {
    (self.method, self.target, self.authority) = (method, target, authority)
    (self.version, self.fields, self.framing) = (version, fields, framing)
  }
}

/// A response's control data and fields.
package struct ResponseHead: Sendable, Equatable {
  /// 100 to 999.
  package var status: Int
  package var reason: Bytes
  package var version: HTTPVersion
  package var fields: Fields

  package init(status: Int, reason: Bytes = [], version: HTTPVersion = .http11, fields: Fields = Fields()) {
    (self.status, self.reason, self.version, self.fields) = (status, reason, version, fields)
  }
}
