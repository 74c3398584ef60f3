import Testing

@testable import PawlConfig
@testable import PawlServer

@Suite("Every key of the configuration at a reload") struct ReloadKeysTests {
  @Test("takes effect, or is named with its line as one that needs a restart", arguments: SectionKind.allCases)
  func keys(_ kind: SectionKind) throws {
    let bench = try ReloadBench()
    let rows = ReloadRow.rows(of: kind, in: bench)
    // A key without a row: add one to ReloadRows.swift.
    #expect(rows.map(\.key).sorted() == kind.keyNames.sorted())
    for row in rows { try check(row, kind, bench) }
  }

  private func check(_ row: ReloadRow, _ kind: SectionKind, _ bench: ReloadBench) throws {
    let label = ReloadBench.label(of: kind)
    let shown = bench.configuration.effective.first { $0.label == label }?.values.first { $0.key == row.key }?.text
    guard let value = row.values.first(where: { $0 != shown }) else {
      Testing.Issue.record("[\(label)] \(row.key): no other value than \(shown ?? "")")
      return
    }
    let name: Comment = "[\(label)] \(row.key) = \(value)"
    let lines = row.with + ["\(row.key) = \(value)"]
    if case .unsupported = row.effect {
      #expect(throws: InvalidConfiguration.self, name) { try bench.load(changing: label, lines) }
      return
    }
    let new = try bench.load(changing: label, lines)
    let before = observe(row, kind, bench)
    let outcome = bench.server.reload(new)
    switch row.effect {
    case .effect:
      #expect(outcome == ReloadOutcome(isApplied: true), name)
      #expect(observe(row, kind, bench) != before, name)
    case .restart:
      let line = "\(new.place(of: row.key, in: label)): [\(label)] \(row.key): the change takes effect after a restart"
      #expect(outcome == ReloadOutcome(isApplied: true, needsRestart: [line]), name)
    case .refused:
      #expect(!outcome.isApplied && outcome.needsRestart.isEmpty, name)
      #expect(
        outcome.mistakes.first?.hasPrefix("\(new.place(of: row.key, in: label)): [\(label)] \(row.key): ") == true, name
      )
    case .unsupported: break
    }
    #expect(bench.server.reload(bench.configuration) == ReloadOutcome(isApplied: true), name)
  }

  private func observe(_ row: ReloadRow, _ kind: SectionKind, _ bench: ReloadBench) -> String {
    if case .effect(let probe?) = row.effect { return probe(bench) }
    return bench.probe(kind)
  }
}
