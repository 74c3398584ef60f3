import PawlBase

/// The members of a JSON object, taken one by one. Each member must be there exactly once, and unknown members are errors.
struct JSONObject {
  private let place: Int
  /// The object's name in error messages, such as `samples[3]`; empty for the outermost object.
  private let path: String
  private var members: [String: JSONValue.Member] = [:]

  init(_ value: JSONValue, _ path: String) throws(JSONFault) {
    guard case .object(let all) = value.content else {
      throw JSONFault(place: value.place, reason: "\(path) must be an object")
    }
    (place, self.path) = (value.place, path)
    for member in all where members.updateValue(member, forKey: member.name) != nil {
      throw JSONFault(place: member.place, reason: "\(full(member.name)) stands here twice")
    }
  }

  private func full(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  mutating func take(_ name: String) throws(JSONFault) -> JSONValue {
    guard let member = members.removeValue(forKey: name) else {
      throw JSONFault(place: place, reason: "\(full(name)) is missing")
    }
    return member.value
  }

  mutating func string(_ name: String) throws(JSONFault) -> String {
    let value = try take(name)
    guard case .string(let text) = value.content else { throw wrong(value, name, "a string") }
    return text
  }

  mutating func whole(_ name: String) throws(JSONFault) -> UInt64 { try Self.whole(try take(name), full(name)) }

  mutating func signed(_ name: String) throws(JSONFault) -> Int64 {
    let value = try take(name)
    guard case .number(let text) = value.content, let number = Int64(text) else {
      throw wrong(value, name, "a whole number")
    }
    return number
  }

  mutating func number(_ name: String) throws(JSONFault) -> Double {
    let value = try take(name)
    guard case .number(let text) = value.content, let number = Double(text), number.isFinite else {
      throw wrong(value, name, "a number")
    }
    return number
  }

  /// Reads a member; returns `nil` if the member is `null`.
  mutating func optional<Value>(
    _ name: String, _ read: (inout JSONObject) throws(JSONFault) -> Value
  ) throws(JSONFault) -> Value? {
    if members[name]?.value.content == .null {
      members[name] = nil
      return nil
    }
    return try read(&self)
  }

  mutating func object(_ name: String) throws(JSONFault) -> JSONObject { try JSONObject(try take(name), full(name)) }

  mutating func array(_ name: String) throws(JSONFault) -> [JSONValue] {
    let value = try take(name)
    guard case .array(let elements) = value.content else { throw wrong(value, name, "an array") }
    return elements
  }

  mutating func objects<Value>(
    _ name: String, _ read: (inout JSONObject) throws(JSONFault) -> Value
  ) throws(JSONFault) -> [Value] {
    var all: [Value] = []
    for (index, element) in try array(name).enumerated() {
      var object = try JSONObject(element, "\(full(name))[\(index)]")
      all.append(try read(&object))
      try object.end()
    }
    return all
  }

  /// Takes all remaining members as counts by name.
  mutating func takeCounts() throws(JSONFault) -> [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for name in members.keys { counts[name] = try whole(name) }
    return counts
  }

  /// Ends the reading of the object.
  /// - Throws: an error for the first member that was not taken.
  func end() throws(JSONFault) {
    guard let member = members.values.min(by: { $0.place < $1.place }) else { return }
    throw JSONFault(place: member.place, reason: "\(full(member.name)) is not known")
  }

  static func whole(_ value: JSONValue, _ path: String) throws(JSONFault) -> UInt64 {
    guard case .number(let text) = value.content, let number = UInt64(text) else {
      throw JSONFault(place: value.place, reason: "\(path) must be a whole number")
    }
    return number
  }

  private func wrong(_ value: JSONValue, _ name: String, _ expected: String) -> JSONFault {
    JSONFault(place: value.place, reason: "\(full(name)) must be \(expected)")
  }
}
