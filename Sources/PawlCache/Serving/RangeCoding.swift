package import PawlHTTP

/// In which content coding the bytes are counted that a request with `Range` asks for, where the origin chooses by
/// `Accept-Encoding` (`origin-encoding = pass`).
///
/// A range of the coded body goes on with nothing but that body (RFC 9110 §8.8.3, §14.2). An origin that gives two codings one
/// strong tag, or one date, leaves it open which of them a client holds half of: then what is sent is whole, never a guess.
package enum RangeCoding: Hashable, Sendable {
  /// Not coded; asked for as `identity`.
  case identity
  /// As the stored body is that the client names (``RepresentationIdentity/contentEncoding``): the origin is asked with the
  /// client's own `Accept-Encoding`.
  case own([UInt8]?)
  /// Nothing that is stored tells. The origin is asked for the whole, with the client's own `Accept-Encoding`: what is not
  /// coded then is what this client has been given before.
  case ownUnlessCoded
  /// It may be either of two: the whole, with the client's own `Accept-Encoding`.
  case unknown

  /// What a request says it holds a part of.
  package enum Condition: Hashable, Sendable {
    case none
    /// By a tag that pawl made: of one body, so of one coding.
    case minted
    /// By a strong tag of the origin's.
    case tag
    case date
  }

  /// A stored body that the condition names.
  package struct NamedBody: Hashable, Sendable {
    /// As in ``RepresentationIdentity/contentEncoding``.
    package var coding: [UInt8]?
    /// Whether the client's own `Accept-Encoding` selects it, and whether `identity` does.
    package var isOwn: Bool, isIdentity: Bool

    package init(coding: [UInt8]?, isOwn: Bool, isIdentity: Bool) {
      (self.coding, self.isOwn, self.isIdentity) = (coding, isOwn, isIdentity)
    }
  }

  /// - Parameters:
  ///   - acceptsCodings: ``acceptsCodings(_:)`` of the request.
  ///   - named: current bodies and replaced ones.
  package static func decide(_ condition: Condition, acceptsCodings: Bool, named: [NamedBody]) -> RangeCoding {
    if condition == .none { return .identity }
    let candidates = named.filter { $0.isOwn || $0.isIdentity }
    let own = candidates.filter(\.isOwn)
    guard !own.isEmpty else {
      // It may have been given a coded one that is not stored any more, or never was.
      return acceptsCodings && condition != .minted ? .ownUnlessCoded : .identity
    }
    let isCoded = own.contains { $0.coding != nil }
    if condition != .minted {
      // A date names no coding, whatever else is stored.
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

  /// Whether a part that the origin gives may be put behind what the client holds. Of what is known to be coded it has to
  /// say so itself; one that says nothing, as it need not beside `If-Range` (RFC 9110 §15.3.7), proves nothing.
  package func takesPart(_ answer: ResponseHead) -> Bool {
    guard case .own(let coding) = self, answer.status == 206 else { return true }
    return RepresentationIdentity.codings(answer.fields) == coding
  }

  /// Whether a part of such a body may be given.
  package func allowsPart(isCoded: Bool) -> Bool {
    switch self {
    case .identity, .own: true
    case .ownUnlessCoded: !isCoded
    case .unknown: false
    }
  }

  /// Whether a client says that it takes anything coded. One that says nothing is given what the origin gives to all.
  package static func acceptsCodings(_ fields: Fields) -> Bool {
    fields.all(.acceptEncoding).contains { line in
      line.listElements.contains { member in
        let coding = member.prefix { $0 != 0x3b }.trimmed
        return !coding.isEmpty && !coding.equalsIgnoringCase("identity") && !isRefused(member[coding.endIndex...])
      }
    }
  }

  /// `;q=0`, with as many zeros as there may be behind it (RFC 9110 §12.4.2).
  private static func isRefused(_ weight: Bytes) -> Bool {
    let bytes = weight.filter { !$0.isBlank }.map(\.lowercasedASCII)
    return bytes.starts(with: ";q=0".utf8) && bytes.dropFirst(4).allSatisfy { $0 == 0x30 || $0 == 0x2e }
  }
}

extension StoredHead {
  /// Lower-case codings, outermost last; `nil` for identity.
  package var coding: [UInt8]? { RepresentationIdentity.codings(fields) }
}
