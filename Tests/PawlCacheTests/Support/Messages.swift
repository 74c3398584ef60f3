import PawlCache
import PawlHTTP

extension StoredHead {
  /// For a request that reaches the origin as it came.
  func isSelected(by request: RequestHead, asksIdentity: Bool) -> Bool {
    isSelected(by: request, asksIdentity: asksIdentity) { request.fields }
  }
}

/// Messages from text, for tables.
enum Messages {
  /// 2026-11-21T10:00:00Z, the moment at which the tests take place.
  static let now: Int64 = 1_795_255_200

  static func fields(_ lines: [String]) -> Fields {
    var fields = Fields()
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append(named: parts[0].utf8, Bytes(String(parts[1])).trimmed)
    }
    return fields
  }

  static func request(
    _ lines: [String] = [], method: Method = .get, target: String = "/dir/file", authority: String = "example.org"
  ) -> RequestHead {
    RequestHead(method: method, target: Bytes(target), authority: Bytes(authority), fields: fields(lines))
  }

  static func response(_ lines: [String] = [], status: Int = 200) -> ResponseHead {
    ResponseHead(status: status, fields: fields(lines))
  }

  /// `Date: ` and the like, some seconds from ``now``.
  static func dated(_ name: String, _ offset: Int64 = 0) -> String {
    name + ": " + String(decoding: HTTPDate.format(now + offset), as: UTF8.self)
  }

  /// A response that came `age` seconds before ``now``, at once, with a `Date` of then.
  static func stored(
    _ lines: [String], status: Int = 200, age: Int64 = 0, request: RequestHead = Messages.request(),
    storability: Storability = .shared, asksIdentity: Bool = true
  ) -> StoredHead {
    var response = response(lines, status: status)
    if !response.fields.contains(.date) { response.fields.append(.date, HTTPDate.format(now - age)) }
    return StoredHead(
      request: request, response: response, requestTime: now - age, responseTime: now - age, storability: storability,
      asksIdentity: asksIdentity)
  }
}
