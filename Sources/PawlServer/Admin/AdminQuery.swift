import PawlBase
import PawlHTTP

/// The query of a request to the admin interface: `name=value` pairs. Values are words and numbers, so `%` is not decoded.
struct AdminQuery {
  private let values: [String: String]

  init(_ target: Bytes) {
    var values: [String: String] = [:]
    for pair in target.drop(while: { $0 != 0x3f }).dropFirst().split(separator: 0x26) {
      let parts = pair.split(separator: 0x3d, maxSplits: 1, omittingEmptySubsequences: false)
      values[parts[0].text] = parts.count > 1 ? parts[1].text : ""
    }
    self.values = values
  }

  subscript(name: String) -> String? { values[name] }

  /// Returns a whole number from 1 on, at most `most`; `nil` if the value is none.
  func count(_ name: String, usually: Int, atMost most: Int) -> Int? {
    guard let text = values[name] else { return usually }
    guard let number = Bytes(text).strictDecimal, number > 0 else { return nil }
    return Int(min(number, UInt64(most)))
  }
}

/// The content of an order: a JSON object with few members.
struct AdminOrder {
  private let members: [String: JSONValue.Content]

  /// `nil`: the content is not a JSON object. No content is an empty object.
  init?(_ content: [UInt8]) {
    guard content.contains(where: { $0 > 0x20 }) else {
      members = [:]
      return
    }
    do throws(JSONFault) {
      guard case .object(let all) = try JSONParser.parse(content).content else { return nil }
      members = Dictionary(all.map { ($0.name, $0.value.content) }) { _, last in last }
    } catch { return nil }
  }

  var names: [String] { members.keys.sorted() }

  func text(_ name: String) -> String? {
    guard case .string(let text)? = members[name] else { return nil }
    return text
  }

  func isSet(_ name: String) -> Bool { members[name] == .bool(true) }

  func number(_ name: String) -> UInt64? {
    guard case .number(let text)? = members[name] else { return nil }
    return Bytes(text).strictDecimal
  }
}
