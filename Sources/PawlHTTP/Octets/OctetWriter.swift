/// Puts octets one behind the other into memory that was made large enough for all of them: a head of thirty pieces asks
/// once whether there is room, where `append` asks thirty times.
package struct OctetWriter {
  private let room: UnsafeMutableBufferPointer<UInt8>
  /// How many octets of the room are written.
  package private(set) var end: Int

  package init(_ room: UnsafeMutableBufferPointer<UInt8>, from end: Int) {
    (self.room, self.end) = (room, end)
  }

  package mutating func put(_ octet: UInt8) {
    room[checked(1)] = octet
    end += 1
  }

  package mutating func put(_ octets: UnsafeBufferPointer<UInt8>) {
    guard let source = octets.baseAddress, let target = room.baseAddress else { return }
    // Safe: there is room for so many.
    UnsafeMutableRawPointer(target + checked(octets.count)).copyMemory(from: source, byteCount: octets.count)
    end += octets.count
  }

  package mutating func put(_ literal: StaticString) {
    put(literal.octets)
  }

  package mutating func put(_ octets: [UInt8]) { octets.withUnsafeBufferPointer { put($0) } }

  package mutating func put(_ octets: ArraySlice<UInt8>) { octets.withUnsafeBufferPointer { put($0) } }

  /// At most 20 digits. As `append(decimal:)` of an array, for room that is not one.
  package mutating func put(decimal value: UInt64) {
    if value >= 10 { put(decimal: value / 10) }
    put(UInt8(truncatingIfNeeded: 0x30 + value % 10))
  }

  /// Where the next `count` octets go. Traps when that is not inside the room.
  private func checked(_ count: Int) -> Int {
    precondition(count <= room.count - end, "more is written than there was room made for")
    return end
  }
}

extension [UInt8] {
  /// Appends what `body` writes: at most `room` octets.
  package mutating func append(atMost room: Int, _ body: (inout OctetWriter) -> Void) {
    append(addingCapacity: room) { output in
      output.withUnsafeMutableBufferPointer { octets, count in
        var writer = OctetWriter(octets, from: count)
        body(&writer)
        count = writer.end
      }
    }
  }
}
