import PawlBase

extension FuzzTarget {
  /// Small formats of pawl's own: JSON, Base64.
  static let texts = [FuzzTarget(name: "json", run: json), FuzzTarget(name: "base64", run: base64)]

  @Sendable private static func json(_ bytes: [UInt8]) {
    do throws(JSONFault) {
      _ = try JSONParser.parse(bytes)
    } catch {
      if error.place < 0 || error.place > bytes.count { breach("a mistake at \(error.place) of \(bytes.count)") }
    }
  }

  @Sendable private static func base64(_ bytes: [UInt8]) {
    if let plain = Base64.decode(bytes[...]) {
      guard Base64.decode(Base64.encode(plain)[...]) == plain else { breach("Base64, read again, differs") }
    }
    if let plain = Base64.decodeFromURL(bytes[...]), Base64.decodeFromURL(Base64.encodeForURL(plain)[...]) != plain {
      breach("Base64 for URLs, read again, differs")
    }
    if Base64.decode(Base64.encode(bytes)[...]) != bytes { breach("what was encoded is not decoded") }
  }
}
