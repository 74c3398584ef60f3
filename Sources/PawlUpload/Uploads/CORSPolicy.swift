package import PawlHTTP

/// Decides which web pages may upload, and makes the fields that browsers need for it (Fetch, "CORS protocol"; UploadProtocols,
/// "tus and CORS").
package struct CORSPolicy: Hashable, Sendable {
  package enum Allowed: Hashable, Sendable {
    case off
    /// Every page, without credentials.
    case any
    /// Pages of these web origins (such as `https://app.example`), with credentials.
    case origins([[UInt8]])
  }

  package var allowed: Allowed

  package init(_ allowed: Allowed) { self.allowed = allowed }

  private static let methods = "POST, PUT, HEAD, PATCH, OPTIONS, GET, DELETE"

  private static let requestFields = """
    Authorization, Origin, X-Requested-With, X-Request-ID, X-HTTP-Method-Override, Content-Type, Content-Disposition, \
    Upload-Length, Upload-Offset, Upload-Metadata, Upload-Defer-Length, Upload-Concat, Upload-Checksum, \
    Tus-Resumable, Upload-Complete, Upload-Incomplete, Upload-Draft-Interop-Version, Incremental, Content-Digest, \
    Repr-Digest, Want-Content-Digest, Want-Repr-Digest
    """

  private static let responseFields = """
    Location, Retry-After, ETag, Content-Digest, Repr-Digest, Upload-Offset, Upload-Length, Upload-Limit, \
    Upload-Expires, Upload-Metadata, Upload-Defer-Length, Upload-Concat, Upload-Checksum, Upload-Complete, \
    Upload-Incomplete, Upload-Draft-Interop-Version, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, \
    Tus-Checksum-Algorithm, Pawl-Origin-Status
    """

  /// Whether a request, or the request that a preflight announces, is about an upload. Pages of another web origin than the
  /// site's may only upload, not use the rest of the application.
  package static func isAboutUploads(_ request: Fields) -> Bool {
    let speaks = request.lines.contains { line in isUploadField(request.name(line)) }
    if speaks { return true }
    guard let asked = request.combined(named: "Access-Control-Request-Headers".utf8) else {
      // A POST without further fields is treated as an upload: a web page could also send it from a form, without a preflight.
      return request.all(named: "Access-Control-Request-Method".utf8).contains { $0.trimmed.equals("POST") }
    }
    return asked.listElements.contains(where: isUploadField)
  }

  private static func isUploadField(_ name: Bytes) -> Bool {
    name.prefix(7).equalsIgnoringCase("upload-") || name.equalsIgnoringCase("tus-resumable")
  }

  /// Returns the fields that answer a preflight from a page of an allowed web origin; none if the request is not a preflight, or
  /// its web origin is not allowed.
  /// - Parameter request: the fields of an OPTIONS request.
  package func preflight(_ request: Fields) -> Fields {
    var fields = Fields()
    guard request.contains(named: "Access-Control-Request-Method"), let origin = origin(request) else { return fields }
    appendOrigin(origin, to: &fields)
    fields.append(named: "Access-Control-Allow-Methods".utf8, Self.methods.utf8)
    let asked = request.combined(named: "Access-Control-Request-Headers".utf8) ?? Bytes("")
    fields.append(
      named: "Access-Control-Allow-Headers".utf8, Self.union([Bytes(Self.requestFields), asked]))
    fields.append(named: "Access-Control-Max-Age".utf8, "86400".utf8)
    return fields
  }

  /// Adds the fields of ``preflight(_:)`` to the origin's response to a preflight.
  package func dressPreflight(_ head: inout ResponseHead, for request: Fields) {
    Self.merge(preflight(request), into: &head.fields)
    dress(&head, for: request)
  }

  /// Adds the fields that a page needs in order to read a response. A page needs them to read errors, too.
  package func dress(_ head: inout ResponseHead, for request: Fields) {
    var fields = Fields()
    if let origin = origin(request) {
      appendOrigin(origin, to: &fields)
      fields.append(named: "Access-Control-Expose-Headers".utf8, Self.responseFields.utf8)
    }
    Self.merge(fields, into: &head.fields)
    // Added to every response, because the response would be different for a page of another web origin.
    if case .origins = allowed, !Self.varies(head.fields) { head.fields.append(.vary, "Origin") }
  }

  /// Adds CORS fields to those of a response. Lists are merged. If the response already names the web origin that it allows, that
  /// field is kept, because browsers refuse a response with two such fields.
  package static func merge(_ added: Fields, into fields: inout Fields) {
    let decides = fields.contains(named: "Access-Control-Allow-Origin")
    for line in added.lines {
      let name = added.name(line)
      if name.equalsIgnoringCase("Access-Control-Allow-Credentials"), decides { continue }
      let present = fields.all(named: name)
      if present.isEmpty {
        fields.append(named: name, added.value(line))
      } else if isList(name) {
        let both = union(present + [added.value(line)])
        if present.count == 1, present[0].elementsEqual(both) { continue }
        fields.removeAll { _, spelling, _ in spelling.equalsIgnoringCase(name) }
        fields.append(named: name, both)
      }
    }
  }

  /// Returns `*`, or the value of the request's `Origin` if that web origin is allowed.
  private func origin(_ request: Fields) -> Bytes? {
    switch allowed {
    case .off: return nil
    case .any: return Bytes("*")
    case .origins(let origins):
      guard let origin = request.only(.origin)?.trimmed else { return nil }
      return origins.contains { origin.equalsIgnoringCase($0) } ? origin : nil
    }
  }

  private func appendOrigin(_ origin: Bytes, to fields: inout Fields) {
    fields.append(named: "Access-Control-Allow-Origin".utf8, origin)
    if allowed != .any { fields.append(named: "Access-Control-Allow-Credentials".utf8, "true".utf8) }
  }

  private static func varies(_ fields: Fields) -> Bool {
    let rule = VaryRule(fields)
    return rule.isStar || rule.names.contains(Array("origin".utf8))
  }

  private static func isList(_ name: Bytes) -> Bool {
    name.equalsIgnoringCase("Access-Control-Allow-Methods") || name.equalsIgnoringCase("Access-Control-Allow-Headers")
      || name.equalsIgnoringCase("Access-Control-Expose-Headers")
  }

  /// Returns those members of all lists that are tokens. Members that differ only in case are returned once.
  private static func union(_ lists: [Bytes]) -> [UInt8] {
    var seen: Set<[UInt8]> = []
    var output: [UInt8] = []
    for member in lists.lazy.flatMap(\.listElements) where member.allSatisfy(ByteSet.token.contains) {
      guard seen.insert(member.map(\.lowercasedASCII)).inserted else { continue }
      if !output.isEmpty { output.append(", " as StaticString) }
      output += member
    }
    return output
  }
}

extension Fields {
  fileprivate func contains(named name: String) -> Bool { !all(named: name.utf8).isEmpty }
}
