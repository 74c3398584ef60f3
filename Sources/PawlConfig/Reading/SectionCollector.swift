/// Reads a file and the files that it includes into sections, and collects all mistakes.
struct SectionCollector {
  private let surroundings: Surroundings
  private(set) var sections = [Section]()
  private(set) var issues = [Issue]()
  /// Every file that was read, in order. Issues are sorted in this order.
  private(set) var files = [String]()
  /// Whether the first file is a configuration of another program.
  private(set) var isForeign = false
  /// The files that are being read now, the outermost first.
  private var open = [String]()
  /// The place (file and line) of the first section with each label.
  private var seen = [SectionLabel: ValueOrigin]()

  static let deepestInclude = 8

  init(_ surroundings: Surroundings) { self.surroundings = surroundings }

  /// Reads a file and the files that it includes.
  /// - Parameter includedFrom: the `[include]` entry that names the file; `nil` for the first file.
  mutating func collect(_ path: String, includedFrom: ValueOrigin? = nil) {
    let path = FilePath.normalize(path)
    guard mayOpen(path, includedFrom) else { return }
    switch surroundings.readFile(path) {
    case .failure(let problem):
      let message = "cannot read \(includedFrom == nil ? "the file" : path): \(problem.reason)"
      report(Issue(at: includedFrom ?? .file(path: path, line: 0), message))
    case .success(let bytes):
      files.append(path)
      if let foreign = ForeignFile(bytes) { return refuse(foreign, path) }
      open.append(path)
      read(readINI(bytes), of: path)
      open.removeLast()
    }
  }

  private mutating func mayOpen(_ path: String, _ includedFrom: ValueOrigin?) -> Bool {
    guard let includedFrom else { return true }
    func refuse(_ message: String) -> Issue { Issue(at: includedFrom, section: "include", key: "files", message) }
    if let start = open.firstIndex(of: path) {
      report(refuse("files include each other in a circle: \((open[start...] + [path]).joined(separator: " -> "))"))
    } else if files.contains(path) {
      report(refuse("\(path) is included a second time"))
    } else if open.count > Self.deepestInclude {
      report(refuse("files are included more than \(Self.deepestInclude) deep"))
    } else {
      return true
    }
    return false
  }

  private mutating func read(_ lines: [(number: Int, line: INILine)], of path: String) {
    /// The section that entries belong to; `nil` if its header was wrong or is missing.
    var current: Section?
    var isBeforeFirstSection = true
    for (number, line) in lines {
      let origin = ValueOrigin.file(path: path, line: number)
      switch line {
      case .malformed(let message):
        report(Issue(at: origin, section: current?.label.text, message))
      case .unreadable(let text):
        report(unreadable(text, in: current, origin))
      case .malformedSection(let message):
        report(Issue(at: origin, message))
        finish(current)
        (current, isBeforeFirstSection) = (nil, false)
      case .section(let text):
        finish(current)
        isBeforeFirstSection = false
        current = begin(text, origin)
      case .entry(let key, let value):
        if isBeforeFirstSection { report(Issue(at: origin, key: key, "expected a [section] before the first key")) }
        let directory = FilePath.directory(of: path)
        guard current != nil else { continue }
        substitute(Entry(key: key, value: value, origin: origin, directory: directory), into: &current)
      }
    }
    finish(current)
  }

  private mutating func begin(_ text: String, _ origin: ValueOrigin) -> Section? {
    do throws(BadValue) {
      let label = try SectionLabel(text)
      // Each file may have an [include] section of its own.
      if label.kind != .include, let earlier = seen[label] {
        report(Issue(at: origin, section: label.text, "this section stands already at \(earlier)"))
      } else if label.kind != .include {
        seen[label] = origin
      }
      return Section(label: label, origin: origin)
    } catch {
      report(Issue(at: origin, section: text, error.message, suggestion: error.suggestion))
      return nil
    }
  }

  private mutating func substitute(_ entry: Entry, into section: inout Section?) {
    do throws(BadValue) {
      if entry.value.contains(" #") || entry.value.contains(" ;") || entry.value.contains("\t#")
        || entry.value.contains("\t;")
      {
        throw BadValue("a comment needs a line of its own")
      }
      var entry = entry
      let substitution = Substitution(environment: surroundings.environment, readFile: surroundings.readFile)
      let outcome = try substitution.apply(to: entry.value, directory: entry.directory)
      entry.fromFiles = outcome.fromFiles
      entry.isInserted = outcome.isFromEnvironment || !outcome.fromFiles.isEmpty
      entry.value = String(trimmed(outcome.text))
      section?.entries.append(entry)
    } catch {
      report(
        Issue(
          at: entry.origin, section: section?.label.text, key: entry.key, error.message, suggestion: error.suggestion))
      section?.refused.insert(entry.key)
    }
  }

  private mutating func finish(_ section: Section?) {
    guard let section else { return }
    guard section.label.kind == .include else { return sections.append(section) }
    for entry in section.entries {
      guard entry.key == "files" else {
        report(unknownKey(entry, in: section))
        continue
      }
      include(entry)
    }
  }

  private mutating func include(_ entry: Entry) {
    if entry.value.isEmpty {
      let expected = BadValue(expected: "files to include, such as conf.d/*.ini", found: "")
      return report(Issue(at: entry.origin, section: "include", key: "files", expected.message))
    }
    let pattern = FilePath.resolve(entry.value, from: entry.directory)
    let isPattern = pattern.contains { "*?[".contains($0) }
    let found =
      isPattern
      ? surroundings.listFiles(pattern).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) } : [pattern]
    for file in found { collect(file, includedFrom: entry.origin) }
  }

  // MARK: Other programs' configurations

  private mutating func refuse(_ foreign: ForeignFile, _ path: String) {
    if files.count == 1 { isForeign = true }
    for (line, word, text) in foreign.messages {
      report(Issue(at: .file(path: path, line: max(1, line)), key: word, text))
    }
  }

  /// Returns the issue of a line that is no section and has no `=`.
  private func unreadable(_ text: String, in section: Section?, _ origin: ValueOrigin) -> Issue {
    let label = section?.label.text
    let opensBlock = ForeignLine(text).opensBlock
    let parts = text.split(maxSplits: 1) { $0 == " " || $0 == "\t" || $0 == ":" }
    if let word = parts.first, AdminSettings.secretKeys.contains(word.lowercased()) {
      let message = "expected key = value, found \"\(word)\" without =; what follows is not shown"
      return Issue(at: origin, section: label, message)
    }
    let expected = "expected key = value, [section] or a comment, found \"\(text)\""
    if !opensBlock, let key = parts.first.map({ String($0).replacing("_", with: "-") }),
      section?.label.kind.keyNames.contains(key) == true
    {
      let value = parts.count > 1 ? trimmed(parts[1].last == ";" ? parts[1].dropLast() : parts[1]) : "VALUE"
      return Issue(at: origin, section: label, expected, suggestion: "\(key) = \(value)")
    }
    if let answer = ForeignWords.answer(to: text) {
      return Issue(at: origin, section: label, key: answer.shownWord, answer.message)
    }
    guard ForeignLine(text).isBrace else { return Issue(at: origin, section: label, expected) }
    return Issue(at: origin, section: label, "a section has no braces: [type:name] begins it, and the next one ends it")
  }

  private mutating func report(_ issue: Issue) { issues.append(issue) }
}

/// Returns the issue for a key that its section does not have.
func unknownKey(_ entry: Entry, in section: Section) -> Issue {
  let (kind, key) = (section.label.kind, entry.key)
  func issue(_ message: String, suggestion: String? = nil) -> Issue {
    Issue(at: entry.origin, section: section.label.text, key: key, message, suggestion: suggestion)
  }
  let homes = SectionKind.homes(of: key)
  if homes.allSatisfy({ $0 == .admin }), let answer = ForeignWords.answer(to: key) { return issue(answer.message) }
  if !homes.isEmpty { return issue("belongs in \(SectionKind.list(homes)), not in [\(section.label.text)]") }
  if let near = nearestMatch(key, among: kind.keyNames) { return issue("unknown key", suggestion: near) }
  if let near = nearestMatch(key, among: SectionKind.allCases.flatMap(\.keyNames)) {
    let list = SectionKind.list(SectionKind.homes(of: near))
    return issue("unknown key; \(near) belongs in \(list), not in [\(section.label.text)]", suggestion: near)
  }
  return issue("unknown key; expected one of \(kind.keyNames.joined(separator: ", "))")
}
