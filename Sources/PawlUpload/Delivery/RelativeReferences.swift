package import PawlHTTP

/// Resolves references in an origin's response that are relative to the request's target. On an upload's URL they would have
/// another meaning (RFC 3986 §5.2, RFC 9110 §10.2.2).
package enum RelativeReferences {
  /// Rewrites `Location` and `Content-Location` so that they have the same meaning on every URL of the site as on `target`.
  package static func anchor(_ fields: inout Fields, at target: Bytes) {
    guard target.first == 0x2f else { return }
    for name in [FieldName.location, .contentLocation] {
      let values = fields.all(name)
      guard values.contains(where: isRelative) else { continue }
      fields.removeAll(name)
      for value in values { fields.append(name, isRelative(value) ? resolved(value, target) : value) }
    }
  }

  /// Whether a reference is neither a URI nor an absolute path.
  private static func isRelative(_ reference: Bytes) -> Bool {
    guard reference.first != 0x2f else { return false }
    guard let delimiter = reference.first(where: { [0x3a, 0x2f, 0x3f, 0x23].contains($0) }) else { return true }
    return delimiter != 0x3a
  }

  private static func resolved(_ reference: Bytes, _ target: Bytes) -> Bytes {
    let path = RequestTarget.path(of: target)
    switch reference.first {
    case nil, 0x23: return target + reference
    case 0x3f: return path + reference
    default: break
    }
    let end = reference.firstIndex { $0 == 0x3f || $0 == 0x23 } ?? reference.endIndex
    let folder = path.prefix(through: path.lastIndex(of: 0x2f) ?? path.startIndex)
    return withoutDots(folder + reference[..<end]) + reference[end...]
  }

  /// Removes dot segments from a path that begins with `/` (RFC 3986 §5.2.4).
  private static func withoutDots(_ path: Bytes) -> Bytes {
    var kept: [Bytes] = []
    let segments = path.dropFirst().split(separator: 0x2f, omittingEmptySubsequences: false)
    for segment in segments {
      if segment.equals("..") { _ = kept.popLast() } else if !segment.equals(".") { kept.append(segment) }
    }
    if let last = segments.last, last.equals(".") || last.equals("..") { kept.append([]) }
    return [0x2f] + kept.joined(separator: [0x2f])
  }
}
