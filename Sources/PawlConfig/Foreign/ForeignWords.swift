/// What pawl has for a word of another program.
struct ForeignAnswer: Hashable {
  var program: ForeignProgram
  /// The word as it is written in the table.
  var word: String
  /// What to write instead, or why there is nothing to write.
  var text: String

  /// The word without the mark of a block.
  var shownWord: String { word.hasSuffix(" {") ? String(word.dropLast(2)).lowercased() : word }

  var message: String { "a word of \(program.name); \(text)" }
}

/// Finds words of other programs, in any spelling with `-` or `_` and in any case.
enum ForeignWords {
  /// Each program's words in lower case and with `-` for `_`, those with a `*` at their end apart.
  private static let tables: [ForeignProgram: (exact: [String: ForeignAnswer], prefixes: [(String, ForeignAnswer)])] = {
    var tables: [ForeignProgram: (exact: [String: ForeignAnswer], prefixes: [(String, ForeignAnswer)])] = [:]
    for program in ForeignProgram.allCases {
      var (exact, prefixes) = ([String: ForeignAnswer](), [(String, ForeignAnswer)]())
      for (word, text) in program.words {
        let answer = ForeignAnswer(program: program, word: word, text: text)
        let key = normalized(word)
        if key.hasSuffix("*") { prefixes.append((String(key.dropLast()), answer)) } else { exact[key] = answer }
      }
      tables[program] = (exact, prefixes)
    }
    return tables
  }()

  static func normalized(_ word: some StringProtocol) -> String { word.lowercased().replacing("_", with: "-") }

  /// Returns the answer to a word of a program; `nil`: that program does not have it.
  static func answer(_ word: some StringProtocol, of program: ForeignProgram) -> ForeignAnswer? {
    guard let table = tables[program] else { return nil }
    let key = normalized(word)
    return table.exact[key] ?? table.prefixes.first { key.hasPrefix($0.0) }?.1
  }

  /// Returns the answer to a key or a line, by the first program that has its first word.
  static func answer(to line: String) -> ForeignAnswer? {
    let line = ForeignLine(line)
    if let word = line.wordBehindLeading {
      for program in ForeignProgram.allCases {
        if let answer = answer(word, of: program) { return answer }
      }
    }
    for program in ForeignProgram.allCases {
      if let answer = line.answer(of: program) { return answer }
    }
    return nil
  }

  /// Returns the answer to the kind of a section, such as `server` in `[server:web]`.
  static func answer(toSection kind: String) -> ForeignAnswer? { answer(to: kind + " {") }
}
