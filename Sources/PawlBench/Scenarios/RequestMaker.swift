/// Makes the requests of a run, with its URL and its fields.
struct RequestMaker: Sendable {
  let authority: String
  let path: String
  let fields: [(name: String, value: String)]

  init(_ settings: RunSettings) {
    (authority, path, fields) = (settings.target.authority, settings.target.path, settings.fields)
  }

  /// Returns the path with this number in place of `{n}`.
  func path(number: UInt64) -> String {
    guard let start = path.utf8.firstIndex(of: 0x7b), path[start...].hasPrefix("{n}") else { return path }
    return "\(path[..<start])\(number)\(path[path.index(start, offsetBy: 3)...])"
  }

  /// Whether every request has this field. `name` is in lower case.
  func hasField(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }

  /// Makes a request that is complete except for ``RequestText/finish()``.
  func make(_ method: String = "GET", path: String? = nil, authority: String? = nil) -> RequestText {
    let request = RequestText(method: method, target: path ?? self.path, authority: authority ?? self.authority)
    for field in fields where field.name.lowercased() != "host" { request.append(field.name, field.value) }
    request.fix()
    return request
  }
}
