package import PawlHTTP

/// The content coding of the body that the offsets of a `Range` field refer to. Needed where the origin chooses the coding by
/// `Accept-Encoding` (`origin-encoding = pass`).
///
/// A range of a coded body continues only that body (RFC 9110 §8.8.3, §14.2). If the origin uses one strong tag or one date for
/// two codings, pawl cannot find out in which coding the client holds a part. Then the complete body is sent, and pawl does not
/// guess.
package enum RangeCoding: Hashable, Sendable {
  /// No coding; the origin is asked with `Accept-Encoding: identity`.
  case identity
  /// The coding of the stored body that the client names (``RepresentationIdentity/contentEncoding``). The origin is asked with
  /// the client's own `Accept-Encoding`.
  case own([UInt8]?)
  /// The coding is unknown, since no such body is stored. The origin is asked for the complete body with the client's own
  /// `Accept-Encoding`. If the response is not coded, the client holds a part of that uncoded body.
  case ownUnlessCoded
  /// The coding is unknown, since two stored bodies match. The complete body is sent, fetched with the client's own
  /// `Accept-Encoding`.
  case unknown

  /// The validator of the part that the client holds.
  package enum Condition: Hashable, Sendable {
    case none
    /// A tag that pawl made. It names one body, and so one coding.
    case minted
    /// A strong tag of the origin's.
    case tag
    case date
  }

  /// A stored body that the condition of a request names.
  package struct NamedBody: Hashable, Sendable {
    /// As in ``RepresentationIdentity/contentEncoding``.
    package var coding: [UInt8]?
    /// Whether the client's own `Accept-Encoding` selects the body, and whether `identity` does.
    package var isOwn: Bool, isIdentity: Bool

    package init(coding: [UInt8]?, isOwn: Bool, isIdentity: Bool) {
      (self.coding, self.isOwn, self.isIdentity) = (coding, isOwn, isIdentity)
    }
  }

  /// - Parameters:
  ///   - acceptsCodings: ``acceptsCodings(_:)`` of the request.
  ///   - named: the stored bodies that the condition names, current and superseded ones.
  package static func decide(_ condition: Condition, acceptsCodings: Bool, named: [NamedBody]) -> RangeCoding {
    if condition == .none { return .identity }
    let candidates = named.filter { $0.isOwn || $0.isIdentity }
    let own = candidates.filter(\.isOwn)
    guard !own.isEmpty else {
      // The client may hold a part of a coded body that is no longer stored, or never was.
      return acceptsCodings && condition != .minted ? .ownUnlessCoded : .identity
    }
    let isCoded = own.contains { $0.coding != nil }
    if condition != .minted {
      // A date cannot distinguish the codings.
      if Set(candidates.map(\.coding)).count > 1 || isCoded && condition == .date { return .unknown }
    }
    return !isCoded && candidates.contains(where: \.isIdentity) ? .identity : .own(own[0].coding)
  }

  /// Whether the origin may be asked for a range.
  package var mayAskForRange: Bool {
    switch self {
    case .identity, .own: true
    case .ownUnlessCoded, .unknown: false
    }
  }

  /// Whether a 206 of the origin may continue the part that the client holds. If that part is coded, the 206 has to name the same
  /// coding. In response to `If-Range` the origin may omit `Content-Encoding` (RFC 9110 §15.3.7), but then the 206 is not used,
  /// since it does not prove its coding.
  package func takesPart(_ answer: ResponseHead) -> Bool {
    guard case .own(let coding) = self, answer.status == 206 else { return true }
    return RepresentationIdentity.codings(answer.fields) == coding
  }

  /// Whether a part of the body may be sent.
  /// - Parameter isCoded: whether the body has a content coding.
  package func allowsPart(isCoded: Bool) -> Bool {
    switch self {
    case .identity, .own: true
    case .ownUnlessCoded: !isCoded
    case .unknown: false
    }
  }

  /// Whether a client accepts any coding besides `identity`. `false` without `Accept-Encoding`: such a client gets what the
  /// origin sends to all clients.
  package static func acceptsCodings(_ fields: Fields) -> Bool {
    fields.all(.acceptEncoding).contains { line in
      line.listElements.contains { member in
        let coding = member.prefix { $0 != 0x3b }.trimmed
        return !coding.isEmpty && !coding.equalsIgnoringCase("identity") && !isRefused(member[coding.endIndex...])
      }
    }
  }

  /// Whether a weight is zero: `;q=0`, perhaps with decimals that are zeros (RFC 9110 §12.4.2).
  private static func isRefused(_ weight: Bytes) -> Bool {
    let bytes = weight.filter { !$0.isBlank }.map(\.lowercasedASCII)
    return bytes.starts(with: ";q=0".utf8) && bytes.dropFirst(4).allSatisfy { $0 == 0x30 || $0 == 0x2e }
  }
}

extension StoredHead {
  /// The content codings in lower case, the outermost last; `nil` for identity.
  package var coding: [UInt8]? { RepresentationIdentity.codings(fields) }
}
