import PawlHTTP

/// Trailer fields on their way from an origin to a client (RFC 9110 §6.5).
enum Trailers {
  /// Whether a request with these fields accepts trailers (RFC 9110 §10.1.4).
  static func areTaken(by fields: Fields) -> Bool {
    fields.lines.contains { line in
      line.name == .te
        && fields.value(line).listElements.contains { $0.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase("trailers") }
    }
  }

  /// Returns the trailers of an origin that are forwarded. Fields for framing, routing, request modifiers, authentication and
  /// content are removed, since a recipient has acted on the head before it reads the trailers (RFC 9110 §6.5.1).
  static func relayed(_ trailers: Fields) -> Fields {
    guard trailers.count > 0 else { return trailers }
    var trailers = trailers
    HopByHop.strip(&trailers)
    trailers.removeAll { name, spelling, _ in
      name == .other ? unnamed.contains { spelling.equalsIgnoringCase($0) } : isForHeads(name)
    }
    return trailers
  }

  private static let unnamed: [StaticString] = [
    "www-authenticate", "strict-transport-security", "content-security-policy",
  ]

  private static func isForHeads(_ name: FieldName) -> Bool {
    switch name {
    case .contentLength, .transferEncoding, .host, .expect, .maxForwards, .contentType, .contentEncoding,
      .contentLanguage, .contentLocation, .contentRange, .contentDisposition, .range, .ifRange, .ifMatch, .ifNoneMatch,
      .ifModifiedSince, .ifUnmodifiedSince, .acceptRanges, .requestRange, .cacheControl, .cdnCacheControl, .pragma,
      .age,
      .date, .expires, .vary, .warning, .authorization, .cookie, .setCookie, .location, .retryAfter, .altSvc, .refresh,
      .forwarded, .xForwardedFor, .xForwardedProto, .xForwardedHost, .xForwardedPort, .xRealIP, .xRequestID, .via,
      .uploadDraftInteropVersion, .uploadComplete, .uploadIncomplete, .uploadOffset, .uploadLength, .uploadLimit,
      .tusResumable:
      true
    default: false
    }
  }
}
