/// Why a request is refused. The connection closes after the answer: where the next request starts is not known.
package struct RequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// 400, 405, 414, 417, 431, 501 or 505.
  package var status: Int
  /// One plain sentence for people; never holds anything the peer sent.
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

/// What one look at the start of a request says.
package enum RequestParse: Hashable, Sendable {
  /// The head is not complete; nothing is wrong so far.
  case needMore
  /// The head ends after `byteCount` bytes, empty lines before it included.
  case head(byteCount: Int)
  case refused(RequestRefusal)
}
