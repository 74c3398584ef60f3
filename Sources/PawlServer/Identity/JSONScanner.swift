/// Reads the top level of a JSON object without building values.
struct JSONScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func topLevelString(_ name: [UInt8]) -> [UInt8]? {
    var found: [UInt8]?
    guard next() == 0x7b else { return nil }
    while true {
      let opening = next()
      if opening == 0x7d { return found }
      guard opening == 0x22, let key = rest() else { return nil }
      guard next() == 0x3a else { return nil }
      guard let first = next() else { return nil }
      if first == 0x22 {
        guard let value = rest() else { return nil }
        if key == name {
          guard found == nil else { return nil }
          found = value
        }
      } else {
        guard skip(first), key != name else { return nil }
      }
      switch next() {
      case 0x2c?: continue
      case 0x7d?: return found
      default: return nil
      }
    }
  }

  private mutating func next() -> UInt8? {
    while position < bytes.count {
      defer { position += 1 }
      switch bytes[position] {
      case 0x20, 0x09, 0x0a, 0x0d: continue
      default: return bytes[position]
      }
    }
    return nil
  }

  /// Reads the rest of a string whose opening quote has been read.
  private mutating func rest() -> [UInt8]? {
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case 0x5c: position += 2
      case 0x22:
        position += 1
        return Array(bytes[start..<(position - 1)])
      default: position += 1
      }
    }
    return nil
  }

  /// Skips a value that is not a string; its first byte, `first`, has been read.
  private mutating func skip(_ first: UInt8) -> Bool {
    guard first == 0x7b || first == 0x5b else {
      while position < bytes.count, ![0x2c, 0x7d, 0x5d].contains(bytes[position]) { position += 1 }
      return true
    }
    var depth = 1
    while depth > 0 {
      switch next() {
      case nil: return false
      case 0x22?: if rest() == nil { return false }
      case 0x7b?, 0x5b?: depth += 1
      case 0x7d?, 0x5d?: depth -= 1
      default: break
      }
    }
    return true
  }
}
