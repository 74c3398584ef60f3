import PawlHTTP

/// Field lines as they would come in, in order.
func fields(_ lines: (String, String)...) -> Fields {
  var fields = Fields()
  for (name, value) in lines { fields.append(named: name.utf8, value.utf8) }
  return fields
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }
}

extension Bytes {
  /// The same bytes as a slice in the middle of a larger buffer, as parsers hand them out.
  init(within text: String) {
    let buffer = Array("9\"9,".utf8) + Array(text.utf8) + Array("9\",9".utf8)
    self = buffer[4..<buffer.count - 4]
  }
}

func range(_ first: UInt64, _ last: UInt64) throws -> ByteRange {
  guard let range = ByteRange(first: first, last: last) else { throw NotARange(first: first, last: last) }
  return range
}

struct NotARange: Error { let first, last: UInt64 }
