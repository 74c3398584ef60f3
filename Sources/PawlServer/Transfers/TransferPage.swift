import PawlBase

/// The list of transfers as one JSON object, written as the slices come:
/// `{"transfers":[…],"shown":2,"total":2,"complete":true}`.
struct TransferPage {
  private(set) var bytes: [UInt8] = Array("{\"transfers\":[".utf8)
  private var isEmpty = true

  mutating func add(_ rows: [TransferRow]) {
    for row in rows {
      if !isEmpty { bytes.append(0x2c) }
      isEmpty = false
      bytes.append(json: row)
    }
  }

  mutating func end(_ outcome: TransferGathering.Outcome) {
    bytes.append(text: "],\"shown\":")
    bytes.append(decimal: UInt64(outcome.shown))
    bytes.append(text: ",\"total\":")
    bytes.append(decimal: UInt64(outcome.total))
    bytes.append(text: ",\"complete\":")
    bytes.append(text: outcome.isComplete ? "true}" : "false}")
  }

  /// Takes the page as a line, without a copy. The page is empty then.
  mutating func takeLine() -> [UInt8] {
    bytes.append(0x0a)
    defer { bytes = [] }
    return bytes
  }
}
