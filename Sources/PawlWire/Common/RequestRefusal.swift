/// Why a request is refused. The connection closes after the response, because the start of the next request is unknown.
package struct RequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status: 400, 405, 408, 414, 417, 431, 501 or 505.
  package var status: Int
  /// One plain sentence for people; it never contains bytes of the request.
  package var reason: StaticString

  package init(_ status: Int, _ reason: StaticString) { (self.status, self.reason) = (status, reason) }

  package var description: String { "\(status) \(reason)" }

  package static func == (a: RequestRefusal, b: RequestRefusal) -> Bool {
    a.status == b.status && a.reason.isSameText(as: b.reason)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(reason.utf8CodeUnitCount)
  }
}

extension StaticString {
  func isSameText(as other: StaticString) -> Bool {
    withUTF8Buffer { own in other.withUTF8Buffer { own.elementsEqual($0) } }
  }
}

/// The result of parsing the bytes at the start of a request.
package enum RequestParse: Hashable, Sendable {
  /// The head is incomplete, and valid so far.
  case needMore
  /// The head ends after `byteCount` bytes, empty lines before it included.
  case head(byteCount: Int)
  case refused(RequestRefusal)
}
