import PawlBase
import PawlHTTP

/// `Max-Forwards`: how many more proxies may forward an OPTIONS or a TRACE (RFC 9110 §7.6.2). Ignored for other methods.
enum MaxForwards {
  /// Whether pawl has to answer the request itself, since the field is 0.
  static func isOver(_ head: RequestHead) -> Bool { left(head.fields, head.method) == 0 }

  /// Decrements the field for the next proxy.
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
