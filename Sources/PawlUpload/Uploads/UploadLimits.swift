import PawlBase

/// The limits that a client is told (`Upload-Limit`, `Tus-Max-Size`).
package struct UploadLimits: Hashable, Sendable {
  /// The most bytes of an upload; `nil`: clients are told no limit.
  package var maxSize: UInt64?
  /// The least bytes of a resumable upload. A smaller upload whose length is known is an ordinary request.
  package var minSize: UInt64
  /// The seconds that are left for this upload.
  package var maxAge: Int64?

  package init(maxSize: UInt64? = nil, minSize: UInt64 = 0, maxAge: Int64? = nil) {
    (self.maxSize, self.minSize, self.maxAge) = (maxSize, minSize, maxAge)
  }

  /// Returns the value of `Upload-Limit`: `max-size=5, min-size=1, max-age=60` (UploadProtocols, "Limits"). Never empty, since a
  /// dictionary must not be empty. Clients of -04 and -05 get the lifetime also as `expires`, and ignore `max-age`.
  package func fieldValue(for version: InteropVersion) -> [UInt8] {
    var members: [(StaticString, UInt64)] = []
    if let maxSize { members.append(("max-size", maxSize)) }
    if minSize > 0 { members.append(("min-size", minSize)) }
    if let maxAge { members.append(("max-age", UInt64(max(maxAge, 0)))) }
    if let maxAge, version.limitExpires { members.append(("expires", UInt64(max(maxAge, 0)))) }
    if members.isEmpty { members.append(("min-size", 0)) }
    var output: [UInt8] = []
    for (key, value) in members {
      if !output.isEmpty { output.append(", " as StaticString) }
      output.append(key)
      output.append(0x3d)
      output.append(decimal: min(value, Self.largest))
    }
    return output
  }

  /// The largest Integer of a structured field (RFC 9651 §3.3.1).
  private static let largest: UInt64 = 999_999_999_999_999
}
