/// One line of an INI text that is neither empty nor a comment.
enum INILine: Hashable {
  case section(String)
  case entry(key: String, value: String)
  /// A line that cannot be read, with the reason.
  case malformed(String)
  /// A line that is no section and has no `=`.
  case unreadable(String)
  /// Like ``malformed(_:)``, but for a line that begins with `[`.
  case malformedSection(String)
}

/// Splits an INI text into lines, without empty lines and comments. Each line has its number, counted from 1.
///
/// Comments (`#`, `;`) need a line of their own. A byte order mark, and CR before LF, are accepted.
func readINI(_ bytes: [UInt8]) -> [(number: Int, line: INILine)] {
  var content = bytes[...]
  if content.starts(with: [0xef, 0xbb, 0xbf]) { content = content.dropFirst(3) }
  var lines = [(number: Int, line: INILine)]()
  var number = 0
  for var raw in content.split(separator: 0x0a, omittingEmptySubsequences: false) {
    number += 1
    if raw.last == 0x0d { raw = raw.dropLast() }
    if let line = readLine(raw) { lines.append((number, line)) }
  }
  return lines
}

private func readLine(_ raw: ArraySlice<UInt8>) -> INILine? {
  guard let text = String(validating: raw, as: UTF8.self) else { return .malformed("not UTF-8") }
  guard !text.unicodeScalars.contains(where: { ($0.value < 0x20 && $0 != "\t") || $0.value == 0x7f }) else {
    return .malformed("holds a control character")
  }
  let line = trimmed(text)
  guard let first = line.first, first != "#", first != ";" else { return nil }
  if first == "[" {
    guard line.last == "]" else { return .malformedSection("expected [section] or [section:NAME], found \"\(line)\"") }
    return .section(String(trimmed(line.dropFirst().dropLast())))
  }
  guard let equals = line.firstIndex(of: "=") else { return .unreadable(String(line)) }
  let key = trimmed(line[..<equals])
  if key.isEmpty { return .malformed("expected a key before =") }
  return .entry(
    key: String(key).replacing("_", with: "-"), value: String(trimmed(line[line.index(after: equals)...])))
}

/// Removes spaces and tabs at both ends.
func trimmed(_ text: some StringProtocol) -> Substring {
  var rest = Substring(text)
  while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
  while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
  return rest
}
