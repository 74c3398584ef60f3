/// A file's lines with the contents of its strings and comments taken out, so that braces and words in them do not count.
struct BareCode {
  private(set) var lines = [String]()
  /// Hashes of the open raw string; `nil` outside of a string that goes over lines.
  private var openString: (delimiter: String, hashes: Int)?
  private var commentDepth = 0

  init(_ source: [String]) { for line in source { lines.append(strip(Array(line))) } }

  private mutating func strip(_ line: [Character]) -> String {
    var bare = ""
    var index = 0
    while index < line.count {
      if commentDepth > 0 {
        if at(line, index, "*/") {
          (commentDepth, index) = (commentDepth - 1, index + 2)
        } else if at(line, index, "/*") {
          (commentDepth, index) = (commentDepth + 1, index + 2)
        } else {
          index += 1
        }
      } else if let open = openString {
        index = inString(line, index, open)
      } else if at(line, index, "//") {
        break
      } else if at(line, index, "/*") {
        (commentDepth, index) = (1, index + 2)
      } else if let (delimiter, hashes) = stringStart(line, index) {
        openString = (delimiter, hashes)
        index += hashes + delimiter.count
        bare += "\"\""
      } else {
        bare.append(line[index])
        index += 1
      }
    }
    // A string in plain quotes ends with its line at the latest.
    if openString?.delimiter == "\"" { openString = nil }
    return bare
  }

  /// Where the scan goes on inside a string. What is interpolated counts as text.
  private mutating func inString(_ line: [Character], _ index: Int, _ open: (delimiter: String, hashes: Int)) -> Int {
    if line[index] == "\\", open.hashes == 0 {
      return index + 1 < line.count && line[index + 1] == "(" ? afterInterpolation(line, index + 2) : index + 2
    }
    let end = open.delimiter + String(repeating: "#", count: open.hashes)
    if at(line, index, end) {
      openString = nil
      return index + end.count
    }
    return index + 1
  }

  private func afterInterpolation(_ line: [Character], _ start: Int) -> Int {
    var depth = 1
    var index = start
    while index < line.count, depth > 0 {
      if line[index] == "(" { depth += 1 }
      if line[index] == ")" { depth -= 1 }
      index += 1
    }
    return index
  }

  private func stringStart(_ line: [Character], _ index: Int) -> (String, Int)? {
    var hashes = 0
    while index + hashes < line.count, line[index + hashes] == "#" { hashes += 1 }
    if at(line, index + hashes, "\"\"\"") { return ("\"\"\"", hashes) }
    return at(line, index + hashes, "\"") ? ("\"", hashes) : nil
  }

  private func at(_ line: [Character], _ index: Int, _ text: String) -> Bool {
    index < line.count && line[index] == text.first && line[index...].starts(with: text)
  }
}

/// A function, initialiser or subscript with a body, and how many lines it takes.
struct FunctionExtent: Hashable {
  var firstLine: Int
  var lineCount: Int
}

extension BareCode {
  /// Every function in the file; those inside others count for themselves too.
  var functions: [FunctionExtent] {
    lines.indices.compactMap { start in
      guard Self.startsFunction(lines[start]), let end = endOfFunction(from: start) else { return nil }
      return FunctionExtent(firstLine: start + 1, lineCount: end - start + 1)
    }
  }

  private static let modifiers: Set<Substring> = [
    "package", "private", "fileprivate", "internal", "public", "static", "class", "final", "override", "mutating",
    "nonmutating", "consuming", "borrowing", "required", "convenience", "nonisolated", "isolated", "indirect",
  ]

  private static func startsFunction(_ line: String) -> Bool {
    for word in line.split(separator: " ") where !modifiers.contains(word) && !word.hasPrefix("@") {
      return word == "func" || word == "deinit"
        || ["init(", "init?(", "init<", "subscript(", "subscript<"].contains { word.hasPrefix($0) }
    }
    return false
  }

  /// The line of the closing brace; `nil` for a requirement of a protocol.
  private func endOfFunction(from start: Int) -> Int? {
    var (parens, braces, hasBody) = (0, 0, false)
    for index in start..<lines.count {
      for character in lines[index] {
        switch character {
        case "(", "[": parens += hasBody ? 0 : 1
        case ")", "]": parens -= hasBody ? 0 : 1
        case "{" where parens == 0 || hasBody: (braces, hasBody) = (braces + 1, true)
        case "}" where hasBody: braces -= 1
        case "}" where parens == 0: return nil
        default: break
        }
        if hasBody, braces == 0 { return index }
      }
      if !hasBody, parens == 0, index + 1 < lines.count, !continuesSignature(lines[index], lines[index + 1]) {
        return nil
      }
    }
    return nil
  }

  private func continuesSignature(_ line: String, _ next: String) -> Bool {
    if line.hasSuffix("->") || line.hasSuffix(",") || line.hasSuffix("where") { return true }
    guard let word = next.split(separator: " ").first else { return false }
    return word.hasPrefix("{") || word.hasPrefix("throws") || ["->", "where", "async", "rethrows"].contains(word)
  }
}
