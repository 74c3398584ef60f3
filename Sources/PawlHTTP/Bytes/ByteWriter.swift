/// Writes bytes into memory that is large enough for all of them. For a head of thirty pieces the array is grown once, where
/// `append` may grow it thirty times.
package struct ByteWriter {
  private let room: UnsafeMutableBufferPointer<UInt8>
  /// The number of bytes written.
  package private(set) var end: Int

  package init(_ room: UnsafeMutableBufferPointer<UInt8>, from end: Int) {
    (self.room, self.end) = (room, end)
  }

  package mutating func put(_ byte: UInt8) {
    room[checked(1)] = byte
    end += 1
  }

  package mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let source = bytes.baseAddress, let target = room.baseAddress else { return }
    // Safe: `checked` traps if the bytes do not fit.
    UnsafeMutableRawPointer(target + checked(bytes.count)).copyMemory(from: source, byteCount: bytes.count)
    end += bytes.count
  }

  package mutating func put(_ literal: StaticString) {
    put(literal.bytes)
  }

  package mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { put($0) } }

  package mutating func put(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBufferPointer { put($0) } }

  /// Writes a number in decimal, at most 20 digits, like `append(decimal:)` of an array.
  package mutating func put(decimal value: UInt64) {
    if value >= 10 { put(decimal: value / 10) }
    put(UInt8(truncatingIfNeeded: 0x30 + value % 10))
  }

  /// The index at which the next `count` bytes are written. Traps when they do not fit into the memory.
  private func checked(_ count: Int) -> Int {
    precondition(count <= room.count - end, "more is written than there was room made for")
    return end
  }
}

extension [UInt8] {
  /// Appends what `body` writes: at most `room` bytes.
  package mutating func append(atMost room: Int, _ body: (inout ByteWriter) -> Void) {
    append(addingCapacity: room) { output in
      output.withUnsafeMutableBufferPointer { bytes, count in
        var writer = ByteWriter(bytes, from: count)
        body(&writer)
        count = writer.end
      }
    }
  }
}
