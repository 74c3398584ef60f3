/// A line of another program's configuration, as its words.
struct ForeignLine {
  private let words: [String]
  /// Whether the line opens a block.
  let opensBlock: Bool
  let endsWithSemicolon: Bool
  let isBrace: Bool
  let isTag: Bool
  /// Whether it is `key = value`, as in an INI text.
  let isEntry: Bool

  init(_ text: some StringProtocol) {
    var rest = trimmed(text)
    isBrace = !rest.isEmpty && rest.allSatisfy { "{};".contains($0) }
    opensBlock = rest.hasSuffix("{")
    endsWithSemicolon = rest.hasSuffix(";")
    isTag = rest.hasPrefix("<")
    while let last = rest.last, "{};>,".contains(last) || last == " " || last == "\t" { rest.removeLast() }
    while let first = rest.first, "}".contains(first) || first == " " || first == "\t" { rest.removeFirst() }
    words = rest.split { $0 == " " || $0 == "\t" }.map(String.init)
    isEntry = !endsWithSemicolon && (words.dropFirst().first == "=" || words.first?.contains("=") == true)
  }

  /// The words before which the one that matters stands.
  private static let leading: Set<String> = ["set", "unset", "if", "elseif", "elsif", "config", "local", "no"]

  /// The word behind `set`, `if` and their like; `nil`: the line begins with another word.
  var wordBehindLeading: String? {
    guard let first = words.first, Self.leading.contains(first.lowercased()), words.count > 1 else { return nil }
    let word = words[1].drop { "(!".contains($0) }
    return String(word.last == ")" ? word.dropLast() : word)
  }

  func answer(of program: ForeignProgram) -> ForeignAnswer? {
    guard let first = words.first else { return nil }
    var candidates = [String]()
    if opensBlock { candidates.append(first + " {") }
    if words.count > 1 { candidates.append("\(first) \(words[1])") }
    if let second = wordBehindLeading { candidates.append(second) }
    candidates.append(first)
    // Calls such as `return(pass)` and `hash_data(req.url)`, and pairs such as `dest_domain=example.org`.
    if let end = first.firstIndex(where: { "(=:".contains($0) }) { candidates.append(String(first[..<end])) }
    for candidate in candidates {
      if let answer = ForeignWords.answer(candidate, of: program) { return answer }
    }
    if program == .caddy, opensBlock, words.count == 1, first.contains(where: { ".:".contains($0) }) {
      return ForeignWords.answer("SITE ADDRESS {", of: program)
    }
    return nil
  }
}
