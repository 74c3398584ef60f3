package import PawlHTTP

/// Whether an answer that breaks off may be completed with bytes of its representation, which are asked for anew, and
/// where its own bytes belong there. For answers that are not kept: what is kept is completed where it is stored.
package enum Resumability: Hashable, Sendable {
  /// A 200: the representation from its first byte on.
  case whole
  /// A 206 that is one range, and says where.
  case part(SinglePart)
  /// Nothing may be put behind its bytes: it ends visibly.
  case never

  /// - Parameters:
  ///   - answer: the first one, before anything broke.
  ///   - asked: the fields of the request that it answers.
  ///   - isLive: it goes on as long as somebody listens (``LiveStream``).
  package static func decide(
    _ answer: ResponseHead, framing: BodyFraming, asked: Fields, isLive: Bool = false
  ) -> Resumability {
    switch answer.status {
    // What is said again is not what was missed: a client that knows better asks for what it wants to hear again.
    case 200: return isLive ? .never : .whole
    case 206:
      // A suffix counts from an end that nobody named: where it begins is the origin's word alone.
      guard let range = RangeField(asked), !range.specs.contains(where: \.isSuffix),
        let part = SinglePart(answer, framing: framing)
      else { return .never }
      return .part(part)
    // An error page, 203 of another proxy, 226, a page behind a redirection: no byte of the representation belongs in it.
    default: return .never
    }
  }
}

/// What a 206 with one range holds of its representation (RFC 9110 §15.3.7.1), where that is beyond doubt.
package struct SinglePart: Hashable, Sendable {
  package let range: ByteRange
  /// Of the representation, in bytes.
  package let total: UInt64

  /// `nil` when the place is not certain: `multipart/byteranges`, no or several `Content-Range` lines, one that cannot be
  /// read, counts in another unit, does not know the total, or promises another length than the message has.
  package init?(_ answer: ResponseHead, framing: BodyFraming) {
    guard answer.status == 206, !answer.fields.isMultipartRanges,
      let part = RepresentationIdentity.contentRange(answer.fields), let total = part.total
    else { return nil }
    switch framing {
    case .none: return nil
    case .length(let length): guard length == part.range.count else { return nil }
    case .chunked, .untilClose: break
    }
    (range, self.total) = (part.range, total)
  }
}

extension Fields {
  /// Whether the content is several parts, each with a place of its own (RFC 9110 §14.6): what counts bytes of it counts
  /// other bytes than those of a representation.
  package var isMultipartRanges: Bool {
    guard contains(.contentType) else { return false }
    return all(.contentType).contains { value in
      value.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase("multipart/byteranges")
    }
  }
}
