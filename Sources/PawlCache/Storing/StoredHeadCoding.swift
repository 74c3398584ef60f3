import PawlHTTP

/// A stored head as bytes for the catalogue: a version byte, numbers in big-endian order, and each string after its length.
extension StoredHead {
  private static let formatVersion: UInt8 = 1

  package func serialize() -> [UInt8] {
    var output: [UInt8] = [Self.formatVersion]
    output.append(number: UInt64(status))
    output.append(number: UInt64(bitPattern: requestTime))
    output.append(number: UInt64(bitPattern: responseTime))
    output.append(validators.date == nil ? 0 : 1)
    output.append(number: UInt64(bitPattern: validators.date ?? 0))
    output.append(string: selecting[...])
    output.append(string: implicitKey[...])
    output.append(fields: fields)
    return output
  }

  /// Reads the bytes that ``serialize()`` made; `nil` when they have another version, are cut off, or are followed by more bytes.
  package init?(serialized: [UInt8]) {
    var reader = ByteReader(rest: serialized[...])
    guard reader.byte() == Self.formatVersion, let status = reader.number(), (100...999).contains(status),
      let requestTime = reader.number(), let responseTime = reader.number(), let hasDate = reader.byte(),
      hasDate <= 1, let date = reader.number(), hasDate == 1 || date == 0, let selecting = reader.string(),
      let implicitKey = reader.string(), let fields = reader.fields(), reader.rest.isEmpty
    else { return nil }
    self.init(
      status: Int(status), fields: fields, requestTime: Int64(bitPattern: requestTime),
      responseTime: Int64(bitPattern: responseTime), bytesDate: hasDate == 1 ? Int64(bitPattern: date) : nil,
      selecting: Array(selecting), implicitKey: Array(implicitKey))
  }
}
