/// Text in columns, for a terminal.
enum TextTable {
  /// Returns the rows as lines; each column but the last is as wide as its widest cell.
  static func lines(_ rows: [[String]]) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.indices.map { column in
        column == row.count - 1 ? row[column] : padded(row[column], widths[column])
      }.joined(separator: "  ")
    }
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Returns text of others, with `?` for characters that a terminal might obey.
  static func safe(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) ? "?" : Character($0) })
  }
}
