package import PawlHTTP

/// The targets whose stored responses are out of date after this exchange (RFC 9111 §4.4): for a success or redirection of an
/// unsafe method its own target, and those of `Location` and `Content-Location` where they lie with the same authority.
package func invalidationTargets(request: RequestHead, response: ResponseHead) -> [Bytes] {
  guard !request.method.isSafe, (200..<400).contains(response.status) else { return [] }
  var targets = [request.target]
  for name in [FieldName.location, .contentLocation] {
    guard let reference = response.fields.only(name), let target = resolveSameAuthority(reference, base: request),
      !targets.contains(target)
    else { continue }
    targets.append(target)
  }
  return targets
}

/// Resolves a URI reference against a request (RFC 3986 §5.2), down to the target a request for it would have; without
/// the fragment. `nil` when it lies elsewhere or is no `http` reference. Other scheme, same authority: taken as the same,
/// for pawl's own scheme is not the origin's.
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

/// RFC 3986 §5.2.4, on the path; the query stays as it is.
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
