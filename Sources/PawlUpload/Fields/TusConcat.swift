package import PawlHTTP

/// The field `Upload-Concat` of tus (tus 1.0.0, concatenation).
package enum TusConcat: Hashable, Sendable {
  case partial
  /// The URLs of the parts, as they were sent; at least one.
  case final([[UInt8]])

  /// Parses `partial`, or `final;/files/a /files/b`.
  /// - Throws: ``UploadRefusal/malformed(_:)``.
  package init(_ value: Bytes) throws(UploadRefusal) {
    if value.equals("partial") {
      self = .partial
      return
    }
    guard value.hasPrefix("final;") else { throw .malformed("Upload-Concat is neither partial nor final.") }
    let urls = value.dropFirst("final;".utf8.count).split(separator: 0x20).map(Array.init)
    guard !urls.isEmpty else { throw .malformed("Upload-Concat names no parts.") }
    self = .final(urls)
  }

  /// Returns the tokens of the parts; `nil`: one URL is not that of an upload below the prefix, or this is ``partial``.
  /// - Parameter prefix: the path of all upload URLs; begins and ends with `/`.
  package func tokens(prefix: [UInt8]) -> [UploadToken]? {
    guard case .final(let urls) = self else { return nil }
    let tokens = urls.compactMap { Self.token($0, prefix: prefix) }
    return tokens.count == urls.count ? tokens : nil
  }

  /// Returns the token in a URL. The URL may also be an absolute path only (RFC 3986 §4.2). The host in the URL is ignored,
  /// because a client that reaches pawl through a port mapping uses another host. The token alone identifies the upload.
  package static func token(_ url: [UInt8], prefix: [UInt8]) -> UploadToken? {
    guard let path = path(url[...]), path.starts(with: prefix) else { return nil }
    return UploadToken(path.dropFirst(prefix.count))
  }

  private static func path(_ url: Bytes) -> Bytes? {
    var rest = url
    if let colon = url.firstIndex(of: 0x3a), url[colon...].hasPrefix("://") {
      let scheme = url[..<colon]
      guard scheme.equalsIgnoringCase("https") || scheme.equalsIgnoringCase("http") else { return nil }
      rest = url[(colon + 1)...]
    }
    guard rest.hasPrefix("//") else { return rest.first == 0x2f ? rest : nil }
    return rest.dropFirst(2).firstIndex(of: 0x2f).map { rest[$0...] }
  }
}
