/// What pawl knows of status codes as a cache.
enum StatusRules {
  /// May be fresh without the origin saying how long (RFC 9110 §15.1). 206 is not kept as such.
  static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Understood in the sense of `must-understand` (RFC 9111 §5.2.2.3): the final codes of RFC 9110 §15, but 206 and 304.
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}
