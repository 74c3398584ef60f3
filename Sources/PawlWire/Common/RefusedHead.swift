package import PawlHTTP

/// What can be read of a request that was refused before it was one, for the access log. Nothing else is decided by it.
package struct RefusedHead: Hashable, Sendable {
  /// The most bytes that are kept of the request line, and of the host.
  package static let limit = 1024

  /// The request line as far as it came, without its end.
  package private(set) var line: Bytes = []
  /// The words of the line; empty where there are none.
  package private(set) var method: Bytes = []
  package private(set) var target: Bytes = []
  /// As the client sent it; empty if it sent none.
  package private(set) var version: Bytes = []
  /// The value of the first `Host` field, which may be invalid; empty without one.
  package private(set) var host: Bytes = []

  /// - Parameter bytes: the bytes of HTTP/1.1 that came, from the beginning of the request on.
  package init(_ bytes: Bytes) {
    let begun = bytes.drop { $0 == Byte.carriageReturn || $0 == Byte.lineFeed }
    let whole = begun.prefix { $0 != Byte.lineFeed }
    line = Bytes(Array(Self.withoutReturn(whole).prefix(Self.limit)))
    let words = line.split(separator: Byte.space, omittingEmptySubsequences: false)
    method = words.first ?? []
    if words.count > 1, let last = words.last {
      let hasVersion = last.starts(with: "HTTP/".utf8)
      version = hasVersion ? last : []
      let end = hasVersion ? last.startIndex - 1 : line.endIndex
      if method.endIndex < end { target = line[(method.endIndex + 1)..<end] }
    }
    host = Self.host(in: begun[whole.endIndex...])
  }

  /// Makes one of HTTP/2, whose words come by themselves.
  package init(method: Bytes, target: Bytes, host: Bytes) {
    (self.method, self.target) = (method.prefix(Self.limit), target.prefix(Self.limit))
    (version, self.host) = (Bytes("HTTP/2.0"), host.prefix(Self.limit))
    if !method.isEmpty || !target.isEmpty {
      line = self.method + [Byte.space] + self.target + [Byte.space] + version
    }
  }

  private static func withoutReturn(_ line: Bytes) -> Bytes {
    line.last == Byte.carriageReturn ? line.dropLast() : line
  }

  private static func host(in lines: Bytes) -> Bytes {
    var rest = lines.dropFirst()
    while !rest.isEmpty {
      let whole = rest.prefix { $0 != Byte.lineFeed }
      let line = withoutReturn(whole)
      if line.isEmpty { return [] }
      if let colon = line.firstIndex(of: Byte.colon), line[..<colon].equalsIgnoringCase("host") {
        return Bytes(Array(line[(colon + 1)...].trimmed.prefix(limit)))
      }
      rest = rest[whole.endIndex...].dropFirst()
    }
    return []
  }
}
