package import PawlHTTP

/// The parts of a request that select one of the responses stored for a URL: the fields of `Vary` and the implicit key. Responses
/// with the same selector differ only in the values of these parts, and are found by these values.
package struct VariantSelector: Hashable, Sendable {
  private let vary: VaryRule
  private let kind: Kind

  private enum Kind: Hashable, Sendable {
    /// The fields of `Vary` only.
    case everybody
    /// The fields of `Vary`, and the cookies.
    case cookies
    /// The fields of `Vary`, the fields that may have caused an error, and perhaps the cookies (``StoredHead/implicitKey``).
    case error(isAboutResource: Bool, countsCookies: Bool)
  }

  init(_ head: StoredHead) {
    vary = head.vary
    if head.status < 300 {
      kind = head.isForEverybody ? .everybody : .cookies
    } else {
      kind = .error(
        isAboutResource: RequestFields.isAboutResource(head.status), countsCookies: !head.isForEverybody)
    }
  }

  /// The values of a request. A response that the request selects has the same values; but the request need not select every
  /// response with these values.
  /// - Parameters: as in ``StoredHead/isSelected(by:asksIdentity:asSent:)``.
  package func values(of request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> [UInt8] {
    var values: [UInt8] = []
    if !vary.names.isEmpty {
      values = vary.selectingValues(in: StoredHead.selectionFields(asSent(), asksIdentity: asksIdentity))
    }
    switch kind {
    case .everybody: return values
    case .cookies: return values + StoredHead.implicitKey(status: 200, request.fields, countsCookies: true)
    case .error(let isAboutResource, let countsCookies):
      let status = isAboutResource ? 404 : 500
      return values + StoredHead.implicitKey(status: status, request.fields, countsCookies: countsCookies)
    }
  }

  /// The values of the response that the selector was made from.
  func values(of head: StoredHead) -> [UInt8] {
    (vary.names.isEmpty ? [] : head.selecting) + (kind == .everybody ? [] : head.implicitKey)
  }
}

extension StoredHead {
  /// The selector of this response, and the values of its request.
  package var selector: (selector: VariantSelector, values: [UInt8]) {
    let selector = VariantSelector(self)
    return (selector, selector.values(of: self))
  }
}
