/// The permissions of a file, as `chmod` takes them: `0600`.
package struct FileMode: Hashable, Sendable, CustomStringConvertible {
  package var bits: UInt32
  package init(_ bits: UInt32) { self.bits = bits }

  package var description: String {
    let digits = String(bits, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension ValueFormat where Value == FileMode {
  /// Permissions of a file, as `chmod(1)` takes them: three or four octal digits.
  static var fileMode: ValueFormat {
    ValueFormat("permissions such as 0600 or 0660", show: \.description) { text in
      guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
        let bits = UInt32(text, radix: 8), bits <= 0o777
      else { return nil }
      return FileMode(bits)
    }
  }
}
