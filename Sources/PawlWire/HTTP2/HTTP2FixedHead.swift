import CNGHTTP2
import PawlBase
package import PawlHTTP

/// The part of a head that is the same in every response, in the form of nghttp2: made once, and never copied for a response.
package final class HTTP2FixedHead: @unchecked Sendable {
  // Safe: filled in `init` and only read afterwards. nghttp2 does not write through these pointers, and the stream's slot keeps
  // this object until the head is sent or the stream is gone.
  let lines: UnsafeMutableBufferPointer<nghttp2_nv>
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter length: of the content, for `content-length`.
  package init(status: Int, _ fields: Fields, length: UInt64) {
    var kept = Fields()
    kept.append(named: Array(":status".utf8), Self.decimal(UInt64(max(0, status))))
    for line in fields.lines where HTTP2Session.isSent(line.name) {
      kept.append(named: fields.name(line).map(\.lowercasedASCII), fields.value(line))
    }
    kept.append(named: Array("content-length".utf8), Self.decimal(length))
    bytes = .allocate(capacity: max(1, kept.storage.count))
    _ = bytes.initialize(from: kept.storage)
    lines = .allocate(capacity: kept.count)
    guard let base = bytes.baseAddress else { return }
    let flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
    for (index, line) in kept.lines.enumerated() {
      lines.initializeElement(
        at: index,
        to: nghttp2_nv(
          name: base + line.nameRange.lowerBound, value: base + line.valueRange.lowerBound,
          namelen: line.nameRange.count, valuelen: line.valueRange.count, flags: flags))
    }
  }

  deinit {
    lines.deallocate()
    bytes.deallocate()
  }

  private static func decimal(_ value: UInt64) -> [UInt8] {
    var digits: [UInt8] = []
    digits.append(decimal: value)
    return digits
  }
}

/// The part of a head that differs in each response.
package struct HTTP2FieldValues {
  private struct Entry {
    let name: StaticString
    let start: Int
    /// Whether the value rarely repeats. Such a value should not fill the dynamic table of HPACK (RFC 7541).
    let isUnique: Bool
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  init() {}

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
  }

  /// - Parameter name: in lower case.
  package mutating func append(_ name: StaticString, _ value: [UInt8], isUnique: Bool = false) {
    entries.append(Entry(name: name, start: bytes.count, isUnique: isUnique))
    bytes.append(contentsOf: value)
  }

  package mutating func append(_ name: StaticString, _ value: Bytes) {
    entries.append(Entry(name: name, start: bytes.count, isUnique: false))
    bytes.append(contentsOf: value)
  }

  /// - Parameter text: written before the number.
  package mutating func append(_ name: StaticString, _ text: StaticString = "", decimal value: UInt64) {
    entries.append(Entry(name: name, start: bytes.count, isUnique: false))
    bytes.append(text)
    bytes.append(decimal: value)
  }

  /// Appends the field lines of these values to `lines`, and calls `body` with all of `lines`. nghttp2 copies the values during
  /// that call.
  /// - Parameter forgetsUnique: whether unique values are sent as literals without indexing.
  func lend(behind lines: inout [nghttp2_nv], forgetsUnique: Bool, to body: (UnsafeBufferPointer<nghttp2_nv>) -> Void) {
    bytes.withUnsafeBufferPointer { bytes in
      for index in entries.indices {
        let entry = entries[index]
        let end = index + 1 < entries.count ? entries[index + 1].start : bytes.count
        var flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
        if entry.isUnique, forgetsUnique { flags |= UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        lines.append(nghttp2_nv(entry.name, bytes[entry.start..<end], flags: flags))
      }
      lines.withUnsafeBufferPointer(body)
    }
  }
}
