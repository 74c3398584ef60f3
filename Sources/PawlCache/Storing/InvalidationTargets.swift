package import PawlHTTP

/// The targets whose stored responses an exchange makes out of date (RFC 9111 §4.4). If a request with an unsafe method succeeds
/// or is redirected, these are its own target, the targets in `Location` and `Content-Location`, and the destination of a MOVE or
/// COPY. A target with another authority is left out. Each target is listed in all spellings that clients use for it.
package func invalidationTargets(request: RequestHead, response: ResponseHead) -> [Bytes] {
  guard changes(request, response) else { return [] }
  var targets = PercentSpelling.common(of: request.target)
  let references = [FieldName.location, .contentLocation].compactMap(response.fields.only)
  for reference in references + destination(request) {
    guard let target = resolveSameAuthority(reference, base: request) else { continue }
    for spelling in PercentSpelling.common(of: target) where !targets.contains(spelling) { targets.append(spelling) }
  }
  return targets
}

/// The trees that an exchange makes out of date, each as a path with a slash at its end. The path without the final slash is out
/// of date, too (RFC 4918 §5.2). DELETE, MOVE, COPY and other methods on a collection apply to all its members (RFC 4918 §9.6 to
/// §9.9). The paths are normalised by ``PercentSpelling``.
package func outdatedTrees(request: RequestHead, response: ResponseHead) -> [Bytes] {
  guard changes(request, response), !leavesMembersAlone(request.method) else { return [] }
  let targets = [request.target] + destination(request).compactMap { resolveSameAuthority($0, base: request) }
  var trees: [Bytes] = []
  for target in targets where target.first == 0x2f {
    let path = PercentSpelling.normalised(target.prefix { $0 != 0x3f })
    let tree = path.last == 0x2f ? path : path + [0x2f]
    if !trees.contains(tree) { trees.append(tree) }
  }
  return trees
}

private func changes(_ request: RequestHead, _ response: ResponseHead) -> Bool {
  !request.method.isSafe && (200..<400).contains(response.status)
}

/// Unsafe methods that change only the target, and not its members.
private let single: [StaticString] = ["LOCK", "UNLOCK", "PROPPATCH", "ACL", "MKCALENDAR", "VERSION-CONTROL"]

private func leavesMembersAlone(_ method: Method) -> Bool {
  switch method {
  case .post, .put, .patch, .connect: true
  case .delete: false
  default: single.contains { method.bytes[...].equals($0) }
  }
}

/// The destination of a MOVE or COPY (RFC 4918 §10.3).
private func destination(_ request: RequestHead) -> [Bytes] {
  guard case .other = request.method else { return [] }
  let found = request.fields.all(named: Array("destination".utf8))
  return found.count == 1 ? found : []
}

/// Resolves a URI reference against a request (RFC 3986 §5.2), and returns the request target of the resulting URI, without its
/// fragment. `nil` when the reference has another authority or is not `http` or `https`. Either of these schemes is accepted,
/// since pawl's scheme may differ from the origin's.
func resolveSameAuthority(_ reference: Bytes, base: RequestHead) -> Bytes? {
  let reference = reference.trimmed.prefix { $0 != 0x23 }
  guard reference.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
  var rest = reference
  let scheme = reference.prefix { $0 != 0x3a && $0 != 0x2f && $0 != 0x3f }
  if scheme.endIndex < reference.endIndex, reference[scheme.endIndex] == 0x3a {
    guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https") else { return nil }
    rest = reference[(scheme.endIndex + 1)...]
    guard rest.hasPrefix("//") else { return nil }
  }
  if rest.hasPrefix("//") {
    let authority = rest.dropFirst(2).prefix { $0 != 0x2f && $0 != 0x3f }
    guard authority.equalsIgnoringCase(base.authority) else { return nil }
    rest = rest[authority.endIndex...]
    if rest.isEmpty { return [0x2f] }
    return rest.first == 0x3f ? ([0x2f] + rest)[...] : withoutDotSegments(rest)
  }
  if rest.isEmpty { return base.target }
  if rest.first == 0x2f { return withoutDotSegments(rest) }
  let basePath = base.target.prefix { $0 != 0x3f }
  if rest.first == 0x3f { return basePath + rest }
  guard let slash = basePath.lastIndex(of: 0x2f) else { return nil }
  return withoutDotSegments(basePath[...slash] + rest)
}

/// Removes dot segments from the path (RFC 3986 §5.2.4); the query stays as it is.
private func withoutDotSegments(_ target: Bytes) -> Bytes {
  let path = target.prefix { $0 != 0x3f }
  let segments = path.dropFirst().split(separator: 0x2f, omittingEmptySubsequences: false)
  var kept: [Bytes] = []
  for (index, segment) in segments.enumerated() {
    let isLast = index == segments.count - 1
    if segment.equals("..") {
      _ = kept.popLast()
      if isLast { kept.append([]) }
    } else if segment.equals(".") {
      if isLast { kept.append([]) }
    } else {
      kept.append(segment)
    }
  }
  var output: [UInt8] = []
  for segment in kept {
    output.append(0x2f)
    output.append(contentsOf: segment)
  }
  if output.isEmpty { output.append(0x2f) }
  return (output + target[path.endIndex...])[...]
}
