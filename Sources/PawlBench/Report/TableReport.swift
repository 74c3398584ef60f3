import PawlHTTP

/// A result as text for a terminal: names on the left, numbers aligned on the right.
package enum TableReport {
  package static func text(_ result: RunResult) -> String {
    var lines = [
      "\(printable(result.label)): \(result.words.title.lowercased())", printable(result.url), when(result), "",
    ]
    lines += settings(result)
    for group in result.figures where group.kind != .firstByte {
      lines += group.kind == .latency ? latencies(group, result.figures(of: .firstByte)) : section(group)
    }
    lines.append(verdict(result))
    return lines.joined(separator: "\n") + "\n"
  }

  /// The verdict on the server in one sentence.
  static func verdict(_ result: RunResult) -> String {
    let (words, counts) = (result.words, result.counts)
    let all = Quantity.count.text(counts.completed)
    if result.failed > 0 {
      let whole = Quantity.count.text(counts.completed &+ result.failed)
      return "FAILED: \(Quantity.count.text(result.failed)) of \(whole) \(words.many) failed or were answered wrong."
    }
    if counts.completed == 0 { return "Nothing was completed." }
    let checked = counts.verified > 0 ? "; \(Quantity.bytes.text(counts.verified)) of content were checked" : ""
    return "All \(all) \(words.many) were complete and correct\(checked)."
  }

  static func when(_ result: RunResult) -> String {
    let date = String(decoding: HTTPDate.format(result.startedAt / 1000), as: UTF8.self)
    return "\(date), \(Quantity.seconds.text(result.seconds)) measured"
  }

  private static func settings(_ result: RunResult) -> [String] {
    guard !result.settings.isEmpty else { return [] }
    return rows("Settings", result.settings.map { [printable($0.name), printable($0.value)] })
  }

  private static func section(_ group: FigureGroup) -> [String] {
    rows(group.kind.rawValue, group.figures.map { [printable($0.name), printable($0.text)] })
  }

  /// The latencies of the complete response and of its first byte, side by side.
  private static func latencies(_ whole: FigureGroup, _ first: [ReportFigure]) -> [String] {
    let header = [["", "whole answer"] + (first.isEmpty ? [] : ["first byte"])]
    let cells = whole.figures.map { figure in
      [figure.name, figure.text] + first.filter { $0.name == figure.name }.map(\.text)
    }
    return rows("Latency", header + cells)
  }

  private static func rows(_ title: String, _ cells: [[String]]) -> [String] {
    let nameWidth = max(24, cells.map { $0[0].count }.max() ?? 0)
    let lines = cells.map { cells -> String in
      let values = cells.dropFirst().map { padding(14 - $0.count) + $0 }
      return "  " + cells[0] + padding(nameWidth - cells[0].count) + values.joined(separator: "  ")
    }
    return [title] + lines + [""]
  }

  private static func padding(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

  /// Replaces control characters, so that a label or a URL cannot move the cursor.
  static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "\u{fffd}" : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value)
  }
}
