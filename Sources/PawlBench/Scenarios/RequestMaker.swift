/// Makes the requests of a run: its URL, its fields.
struct RequestMaker: Sendable {
  let authority: String
  let path: String
  let fields: [(name: String, value: String)]

  init(_ settings: RunSettings) {
    (authority, path, fields) = (settings.target.authority, settings.target.path, settings.fields)
  }

  /// A request that is complete but for ``RequestText/finish()``.
  func make(_ method: String = "GET", path: String? = nil) -> RequestText {
    let request = RequestText(method: method, target: path ?? self.path, authority: authority)
    for field in fields where field.name.lowercased() != "host" { request.append(field.name, field.value) }
    request.fix()
    return request
  }
}
