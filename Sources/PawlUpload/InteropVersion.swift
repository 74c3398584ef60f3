/// A version of the resumable upload drafts (protocols 2): 3 to 10, or the dialect without a version.
package struct InteropVersion: Hashable, Comparable, Sendable {
  /// 3 to 10; 11 for ``final``.
  package let number: Int

  /// Without `Upload-Draft-Interop-Version`: what the RFC will be.
  package static let final = InteropVersion(unchecked: 11)
  package var isFinal: Bool { number == 11 }

  private init(unchecked number: Int) { self.number = number }

  /// `nil` for versions that pawl does not speak.
  package init?(number: Int) {
    guard (3...10).contains(number) else { return nil }
    self.number = number
  }

  package static func < (a: InteropVersion, b: InteropVersion) -> Bool { a.number < b.number }
}
