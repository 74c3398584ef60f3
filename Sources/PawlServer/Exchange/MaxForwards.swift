import PawlBase
import PawlHTTP

/// How many more proxies may pass an OPTIONS or a TRACE on (RFC 9110 §7.6.2); for other methods the field means nothing.
enum MaxForwards {
  /// Whether the request ends here.
  static func isOver(_ head: RequestHead) -> Bool { left(head.fields, head.method) == 0 }

  /// Takes one off for the next.
  static func countDown(_ fields: inout Fields, _ method: Method) {
    guard let left = left(fields, method), left > 0 else { return }
    var digits: [UInt8] = []
    digits.append(decimal: left - 1)
    fields.set(.maxForwards, digits)
  }

  private static func left(_ fields: Fields, _ method: Method) -> UInt64? {
    guard fields.contains(.maxForwards), method == .options || method == .trace else { return nil }
    return fields.only(.maxForwards)?.trimmed.strictDecimal
  }
}
