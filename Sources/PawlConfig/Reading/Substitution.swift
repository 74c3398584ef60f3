/// Replaces `${NAME}`, `${NAME:-default}` and `${file:PATH}` in a value.
///
/// Works on the value only, after the text was split into lines, so inserted text cannot make a section or a key. Inserted text
/// is not substituted again. A `$` without `{` is an ordinary character.
struct Substitution {
  let environment: (String) -> String?
  let readFile: (String) -> Result<[UInt8], FileProblem>

  /// A value with everything replaced.
  struct Outcome: Hashable {
    var text = ""
    /// The contents of files in it.
    var fromFiles: [String] = []
    /// Whether a variable of the environment is in it.
    var isFromEnvironment = false

    fileprivate mutating func take(_ variable: String) {
      text += variable
      isFromEnvironment = true
    }
  }

  /// - Parameter directory: the directory that a relative `PATH` is resolved against.
  func apply(to value: String, directory: String) throws(BadValue) -> Outcome {
    var result = Outcome()
    var rest = value[...]
    while let start = rest.firstIndex(of: "$") {
      result.text += rest[..<start]
      rest = rest[start...]
      guard rest.hasPrefix("${") else {
        result.text += "$"
        rest = rest.dropFirst()
        continue
      }
      guard let end = rest.firstIndex(of: "}") else { throw BadValue("expected } after ${") }
      let inner = rest[rest.index(start, offsetBy: 2)..<end]
      try replace(String(inner), directory: directory, in: &result)
      rest = rest[rest.index(after: end)...]
    }
    result.text += rest
    return result
  }

  private func replace(_ inner: String, directory: String, in result: inout Outcome) throws(BadValue) {
    if inner.hasPrefix("file:") {
      let content = try content(of: FilePath.resolve(String(inner.dropFirst("file:".count)), from: directory))
      result.text += content
      return result.fromFiles.append(content)
    }
    let colon = inner.firstIndex(of: ":") ?? inner.endIndex
    let name = String(inner[..<colon])
    let tail = inner[colon...]
    guard Self.isName(name), tail.isEmpty || tail.hasPrefix(":-"), !tail.contains("${") else {
      throw BadValue("expected ${NAME}, ${NAME:-default} or ${file:PATH}, found \"${\(inner)}\"")
    }
    let found = environment(name)
    if tail.isEmpty {
      if let found { return result.take(found) }
      throw BadValue("the environment has no variable \(name)", suggestion: "${\(name):-default}")
    }
    if let found, !found.isEmpty { return result.take(found) }
    result.text += tail.dropFirst(2)
  }

  private func content(of path: String) throws(BadValue) -> String {
    switch readFile(path) {
    case .failure(let problem): throw BadValue("cannot read \(path): \(problem.reason)")
    case .success(var bytes):
      while bytes.last == 0x0a || bytes.last == 0x0d { bytes.removeLast() }
      guard let text = String(validating: bytes, as: UTF8.self) else { throw BadValue("\(path) is not UTF-8") }
      guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
        throw BadValue("\(path) holds more than one line of text")
      }
      return text
    }
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
    return text.utf8.allSatisfy {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
    }
  }
}
