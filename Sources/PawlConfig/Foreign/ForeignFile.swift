/// A file that is a configuration of another program, with an answer to each of its words that is known.
struct ForeignFile {
  let program: ForeignProgram
  /// The answers in the order of the lines: the first line with each word, and the number of further lines with it.
  let answers: [(line: Int, answer: ForeignAnswer, further: Int)]

  /// The most answers for one file; its other words are left out.
  static let mostAnswers = 100

  /// Recognises the file; `nil`: it is INI text, or of no known program.
  init?(_ bytes: [UInt8]) {
    let lines = Self.lines(of: bytes)
    // A section begins an INI text.
    guard !lines.isEmpty, !lines.contains(where: { $0.text.hasPrefix("[") && $0.text.hasSuffix("]") }) else {
      return nil
    }
    let parsed = lines.map { (number: $0.number, line: ForeignLine($0.text)) }
    let scores = ForeignProgram.allCases.map { ($0, Self.score(parsed.map(\.line), as: $0)) }
    guard let best = scores.max(by: { $0.1 < $1.1 }), best.1 > 0 else { return nil }
    program = best.0
    var (found, places) = ([(line: Int, answer: ForeignAnswer, further: Int)](), [String: Int]())
    for (number, line) in parsed where !line.isEntry {
      guard let answer = line.answer(of: best.0) else { continue }
      if let place = places[answer.word] {
        found[place].further += 1
      } else if found.count < Self.mostAnswers {
        places[answer.word] = found.count
        found.append((number, answer, 0))
      }
    }
    answers = found
    if found.isEmpty { return nil }
  }

  /// Returns the lines that are neither empty nor comments, with their numbers. A line with several statements is several.
  private static func lines(of bytes: [UInt8]) -> [(number: Int, text: Substring)] {
    let text = String(decoding: bytes, as: UTF8.self)
    var lines = [(number: Int, text: Substring)]()
    // Lines are counted as editors count them, and as those of an INI text.
    let ends: Set<Character> = ["\n", "\r\n"]
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: ends.contains).enumerated() {
      let line = trimmed(line)
      if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("//") || line.hasPrefix("/*") { continue }
      lines += statements(line).map { (index + 1, $0) }
    }
    return lines
  }

  /// Splits a line behind each `{` and `;` that a blank follows.
  private static func statements(_ line: Substring) -> [Substring] {
    var (found, rest) = ([Substring](), line)
    while let end = rest.indices.first(where: { index in
      let next = rest.index(after: index)
      return "{;".contains(rest[index]) && next < rest.endIndex && rest[next] == " "
    }) {
      found.append(rest[...end])
      rest = trimmed(rest[rest.index(after: end)...])
    }
    return rest.isEmpty ? found : found + [rest]
  }

  /// Returns how likely the lines are of a program: known words and the shape of lines speak for it, another shape against it.
  private static func score(_ lines: [ForeignLine], as program: ForeignProgram) -> Int {
    var (score, known) = (0, 0)
    for line in lines where !line.isEntry {
      if line.answer(of: program) != nil { known += 1 }
      switch program.style {
      case .semicolons: score += line.isTag ? -2 : line.endsWithSemicolon || line.opensBlock || line.isBrace ? 1 : -1
      case .braces: score += line.isTag || line.endsWithSemicolon ? -2 : line.opensBlock || line.isBrace ? 1 : 0
      case .tags: score += line.isTag ? 2 : line.opensBlock || line.endsWithSemicolon ? -2 : 0
      case .plain: score += line.isTag || line.opensBlock || line.endsWithSemicolon ? -2 : 0
      }
    }
    return known == 0 ? 0 : score + 3 * known
  }

  /// The messages, each with its line, the word and what to write: first what the file is, then each word.
  var messages: [(line: Int, word: String?, text: String)] {
    let first =
      "this is a configuration of \(program.name); pawl reads INI text. Four lines are enough to begin with: "
      + "[upstream:app], url = http://127.0.0.1:9000, [site:default], upstream = app"
    return [(0, nil, first)]
      + answers.map { answer in
        let more = answer.further == 0 ? "" : " (and \(answer.further) more line\(answer.further == 1 ? "" : "s"))"
        return (answer.line, answer.answer.shownWord, answer.answer.text + more)
      }
  }
}
