package import PawlHTTP

/// Whether a response that breaks off may be completed with further requests, and where its bytes belong in the representation.
/// This is for responses that are not stored; a stored response is completed in the store.
package enum Resumability: Hashable, Sendable {
  /// A 200: the representation from its first byte on.
  case whole
  /// A 206 with one range whose offsets are known.
  case part(SinglePart)
  /// No bytes may be appended to the response, so it ends visibly incomplete.
  case never

  /// - Parameters:
  ///   - answer: the first response, which may break off.
  ///   - asked: the fields of the request.
  ///   - isLive: whether the response is a live stream (``LiveStream``).
  package static func decide(
    _ answer: ResponseHead, framing: BodyFraming, asked: Fields, isLive: Bool = false
  ) -> Resumability {
    switch answer.status {
    // A live stream that is requested again does not begin where it broke off; its client can ask for missed events itself.
    case 200: return isLive ? .never : .whole
    case 206:
      // A client that requests a suffix range does not know the length, so only the origin determines where the range begins.
      guard let range = RangeField(asked), !range.specs.contains(where: \.isSuffix),
        let part = SinglePart(answer, framing: framing)
      else { return .never }
      return .part(part)
    // An error page, a 203 of another proxy, a 226 or a redirection holds no bytes of the representation.
    default: return .never
    }
  }
}

/// The range of a 206 with exactly one range (RFC 9110 §15.3.7.1), where that range is certain.
package struct SinglePart: Hashable, Sendable {
  package let range: ByteRange
  /// The length of the representation, in bytes.
  package let total: UInt64

  /// `nil` when the range is uncertain: the content is `multipart/byteranges`, there is not exactly one `Content-Range` line, or
  /// this line cannot be parsed, has another unit or no total, or gives another length than the message.
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
  /// Whether the content consists of several parts, each with its own range (RFC 9110 §14.6). Offsets in such content are not
  /// offsets in the representation.
  package var isMultipartRanges: Bool {
    guard contains(.contentType) else { return false }
    return all(.contentType).contains { value in
      value.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase("multipart/byteranges")
    }
  }
}
