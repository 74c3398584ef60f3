/// The properties of status codes that matter to a cache.
enum StatusRules {
  /// Whether a response may be fresh without an explicit lifetime (RFC 9110 §15.1). 206 is not in the list, because no response
  /// is stored with status 206: the content of a 206 is stored as a part of the body of a 200.
  static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Whether pawl understands a status in the sense of `must-understand` (RFC 9111 §5.2.2.3): the final codes of RFC 9110 §15
  /// without 206 and 304.
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}
