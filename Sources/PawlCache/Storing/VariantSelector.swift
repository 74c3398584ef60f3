package import PawlHTTP

/// What of a request chooses one of the responses that are stored for a URL: `Vary`, and what is common to requests for it beside that.
/// Those of one selector differ in its values alone, and are found by them.
package struct VariantSelector: Hashable, Sendable {
  private let vary: VaryRule
  private let kind: Kind

  private enum Kind: Hashable, Sendable {
    /// Nothing but `Vary`.
    case everybody
    /// The cookies.
    case cookies
    /// What may have provoked an error, and perhaps the cookies (``StoredHead/implicitKey``).
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

  /// Those of a request. Whoever it selects has the same ones; it may have the same and not be selected.
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

  /// Those of the response that this is made of.
  func values(of head: StoredHead) -> [UInt8] {
    (vary.names.isEmpty ? [] : head.selecting) + (kind == .everybody ? [] : head.implicitKey)
  }
}

extension StoredHead {
  /// What chooses this response, and the values of the request that it was the answer to.
  package var selector: (selector: VariantSelector, values: [UInt8]) {
    let selector = VariantSelector(self)
    return (selector, selector.values(of: self))
  }
}
