/// The effect of a request's conditions on an answer that would be a 200.
package enum Precondition: Hashable, Sendable {
  /// The conditions have no effect; `Range` and `If-Range` are evaluated next.
  case proceed
  /// 304.
  case notModified
  /// 412. A cache does not send a 412 itself (RFC 9110 §13.2.1), but forwards the request.
  case failed
}

/// Evaluates `If-Match`, `If-Unmodified-Since`, `If-None-Match` and `If-Modified-Since` in the order of RFC 9110 §13.2.2.
/// ``IfRange`` is evaluated later.
/// - Parameters:
///   - validators: those of the selected representation.
///   - isMatch: whether a tag names that representation, compared strongly or weakly; aliases included.
package func evaluatePreconditions(
  _ request: RequestHead, validators: Validators, isMatch: (EntityTag, _ strongly: Bool) -> Bool
) -> Precondition {
  let fields = request.fields
  if fields.contains(.ifMatch) {
    guard names(fields.all(.ifMatch), { isMatch($0, true) }) else { return .failed }
  } else if let limit = date(.ifUnmodifiedSince, of: fields), let modified = validators.lastModified {
    guard modified <= limit else { return .failed }
  }
  if fields.contains(.ifNoneMatch) {
    // A malformed list matches nothing, and If-Modified-Since is still ignored.
    guard names(fields.all(.ifNoneMatch), { isMatch($0, false) }) else { return .proceed }
    return request.method.isRetrieval ? .notModified : .failed
  }
  guard request.method.isRetrieval, let since = date(.ifModifiedSince, of: fields) else { return .proceed }
  // Date, then the time of receipt, replace a missing Last-Modified (RFC 9111 §4.3.2).
  let modified = validators.lastModified ?? validators.date ?? validators.receivedAt
  return modified <= since ? .notModified : .proceed
}

private func names(_ lines: [Bytes], _ isMatch: (EntityTag) -> Bool) -> Bool {
  switch EntityTagList(lines) {
  case .any: true
  case .tags(let tags): tags.contains(where: isMatch)
  case nil: false
  }
}

/// The date of a condition. `nil` when it is absent, on several lines or malformed; the condition is then ignored.
private func date(_ name: FieldName, of fields: Fields) -> Int64? {
  fields.only(name).flatMap { HTTPDate.parse($0) }
}
