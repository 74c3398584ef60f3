package import PawlHTTP

/// The fields of a request that may change its response, besides the URL and the fields that `Vary` names.
package enum RequestFields {
  // MARK: - Credentials

  private static let credentials = FieldNameSet([.authorization])
  private static let certificateNames = [Array("client-cert".utf8), Array("client-cert-chain".utf8)]

  /// Whether the request has a credential, so that its response may be for one user: `Authorization`, or the certificate of the
  /// client in the fields for the application (`Client-Cert`, RFC 9440).
  package static func hasCredential(_ fields: Fields) -> Bool {
    if fields.mayContain(anyOf: credentials), fields.contains(.authorization) { return true }
    return hasOther(fields) { spelling in certificateNames.contains { isSame(spelling, $0) } }
  }

  /// Whether the request has a credential or a cookie.
  package static func isPersonal(_ fields: Fields) -> Bool { fields.contains(.cookie) || hasCredential(fields) }

  // MARK: - Overrides

  /// Fields from which frameworks and rewriting front ends take another method, path or host than the request's own: Rack,
  /// Symfony, Laravel, Spring, ASP.NET and Express (method); IIS URL Rewrite, Zend and Symfony (path); Magento, Drupal and others
  /// (host).
  private static let overrides: [[UInt8]] = [
    "x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url", "x-override-url",
    "x-original-uri", "x-rewrite-uri", "x-original-path", "x-host", "x-original-host", "x-http-host-override",
    "x-backend-host", "x-real-host", "x-http-destinationurl", "x-http-path-override", "x-script-name", "x-path-info",
    "x-proxy-url", "x-proxy-host", "x-prefix", "x-base-url",
  ].map { Array($0.utf8) }

  /// Whether the request has a field that overrides its method, path or host. An application that reads such a field returns
  /// something else than the URL names, so the response is not about the URL.
  package static func hasOverride(_ fields: Fields) -> Bool {
    if fields.contains(.xHTTPMethodOverride) { return true }
    return hasOther(fields) { spelling in
      let first = spelling.first.map(\.lowercasedASCII)
      return first == 0x78 && overrides.contains { isSame(spelling, $0) }
    }
  }

  /// Whether the response allows only the site whose script sent the request (`Access-Control-Allow-Origin`, Fetch §3.2.3),
  /// without naming `Origin` in `Vary`. If the response were stored unchanged, browsers would refuse it to scripts of all other
  /// sites.
  static func isEchoed(_ fields: Fields, in answer: Fields) -> Bool {
    guard let origin = fields.only(.origin), !VaryRule(answer).names.contains(Array("origin".utf8)) else {
      return false
    }
    return answer.combined(named: Bytes("Access-Control-Allow-Origin"))?.elementsEqual(origin) == true
  }

  // MARK: - Causes of errors

  /// The part of a request that is added to the key of a response with a status of 300 or more, because the request's own fields
  /// may have caused that status. The response is used only for requests for which this part is the same. So an error that one
  /// client caused by an unusual request is not sent to other clients.
  ///
  /// The part has the names of all fields that an origin sees, and the values that differ from what browsers send. For an error
  /// that is not about the resource (other than 404, 410 and the like) it has all values of ordinary fields. The value of an
  /// unknown field is in the part only if it is long.
  /// - Parameter fields: as the client sent them.
  package static func errorKey(status: Int, _ fields: Fields) -> [UInt8] {
    guard status >= 300 else { return [] }
    let isAboutResource = isAboutResource(status)
    var parts: [[UInt8]] = []
    for line in fields.lines {
      let (name, value) = (fields.name(line).map(\.lowercasedASCII), fields.value(line).trimmed)
      let counts: Bool
      switch kind(line.name, name) {
      case .ignored: continue
      case .trace:
        guard !isIdentifier(value) else { continue }
        counts = true
      // Fields about the transfer and the freshness of a response do not select the resource.
      case .ordinary where isAboutResource && [.te, .pragma, .cacheControl].contains(line.name): continue
      case .ordinary: counts = !isAboutResource || !isUsual(line.name, name, value)
      case .unknown: counts = value.count > longValue
      }
      parts.append(counts ? name + [0x3a] + value : name)
    }
    parts.sort { $0.lexicographicallyPrecedes($1) }
    return Array(parts.joined(separator: [0x0a]))
  }

  /// Whether a status of 300 or more is about the resource rather than about the request.
  static func isAboutResource(_ status: Int) -> Bool {
    status < 400 || StatusRules.isHeuristicallyCacheable(status) || status == 451
  }

  /// Whether an error may be caused by this request only: by its status, or because the request has fields that browsers do not
  /// send.
  package static func mayProvoke(_ status: Int, _ fields: Fields) -> Bool {
    guard status >= 400 else { return false }
    if [400, 406, 408, 412, 413, 414, 415, 416, 417, 421, 431].contains(status) { return true }
    return fields.lines.contains { kind($0.name, fields.name($0).map(\.lowercasedASCII)) == .unknown }
  }

  /// Whether the request has something that browsers do not send. The origin may reject or redirect such a request, or send a
  /// special response without `Vary`. Such a response says nothing about the resource.
  package static func isUnusual(_ fields: Fields) -> Bool {
    fields.lines.contains { line in
      let name = fields.name(line).map(\.lowercasedASCII)
      switch kind(line.name, name) {
      case .ignored, .trace: return false
      case .ordinary where [.te, .pragma, .cacheControl, .via].contains(line.name): return false
      case .ordinary: return !isUsual(line.name, name, fields.value(line).trimmed)
      case .unknown: return true
      }
    }
  }

  /// The value of an unknown field does not count if it has at most this many bytes. Short values are often counters and
  /// identifiers, which differ in each request.
  static let longValue = 64

  private enum Kind { case ignored, trace, ordinary, unknown }

  private static func kind(_ known: FieldName, _ name: [UInt8]) -> Kind {
    switch known {
    // Fields that the origin does not see, or that pawl writes itself. Conditions and ranges are among them, because responses to
    // them are not stored with an error key (``NotStored/conditional``).
    case .connection, .keepAlive, .proxyConnection, .host, .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince,
      .ifUnmodifiedSince, .requestRange, .forwarded, .xForwardedFor, .xForwardedProto, .xForwardedHost, .xForwardedPort,
      .xRealIP:
      return .ignored
    case .xRequestID: return .trace
    case .accept, .acceptEncoding, .acceptLanguage, .authorization, .cookie, .userAgent, .referer, .origin,
      .cacheControl, .pragma,
      .via, .te:
      return .ordinary
    case .other: break
    default: return .unknown
    }
    if traces.contains(name) { return .trace }
    return ordinary.contains(name) || isOfBrowsers(name) ? .ordinary : .unknown
  }

  private static let traces = Set(
    ["traceparent", "x-correlation-id", "x-amzn-trace-id", "x-cloud-trace-context", "x-b3-traceid", "x-b3-spanid"].map {
      Array($0.utf8)
    })

  private static let ordinary = Set(
    ["accept-charset", "client-cert", "client-cert-chain", "from", "prefer", "purpose", "x-requested-with"].map {
      Array($0.utf8)
    })

  /// Whether a field describes the browser or how it makes the request.
  private static func isOfBrowsers(_ name: [UInt8]) -> Bool {
    browsers.contains(name) || name.starts(with: "sec-fetch-".utf8) || name.starts(with: "sec-ch-".utf8)
  }

  private static let browsers = Set(
    ["dnt", "priority", "save-data", "sec-gpc", "sec-purpose", "upgrade-insecure-requests"].map { Array($0.utf8) })

  /// Whether a value has only hexadecimal digits and hyphens, as the identifier of a request has.
  private static func isIdentifier(_ value: Bytes) -> Bool {
    value.count <= longValue
      && value.allSatisfy { $0 == 0x2d || $0.isHexDigit }
  }

  /// Whether browsers send values like this one, so that no origin rejects them.
  private static func isUsual(_ known: FieldName, _ name: [UInt8], _ value: Bytes) -> Bool {
    switch known {
    case .cookie: value.count <= 4096
    case .userAgent:
      value.count <= 256 && value.hasPrefix("Mozilla/5.0 (") && !value.hasPrefix("Mozilla/5.0 (compatible")
    case .accept:
      value.count <= 256 && value.listElements.contains { $0.hasPrefix("*/*") }
    case .acceptLanguage:
      value.count <= 128
        && value.listElements.allSatisfy { tag in
          tag.count >= 2 && tag.prefix(2).allSatisfy(\.isLetter) && tag.first != 0x2a
        }
    case .acceptEncoding:
      value.listElements.allSatisfy { coding in
        codings.contains { coding.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase($0) }
      }
    case .other: value.count <= longValue && isOfBrowsers(name)
    default: false
    }
  }

  private static let codings = ["gzip", "deflate", "br", "zstd", "identity"].map { Array($0.utf8) }

  // MARK: - Names

  private static func hasOther(_ fields: Fields, _ isMeant: (Bytes) -> Bool) -> Bool {
    guard fields.mayContain(anyOf: others) else { return false }
    return fields.lines.contains { $0.name == .other && isMeant(fields.name($0)) }
  }

  private static let others = FieldNameSet([.other])

  /// Compares field names. Every byte that is neither a letter nor a digit counts as a hyphen, because CGI and WSGI make the same
  /// variable of all these spellings.
  private static func isSame(_ spelling: Bytes, _ name: [UInt8]) -> Bool {
    spelling.count == name.count
      && zip(spelling, name).allSatisfy { a, b in (a.isLetter || a.isDigit ? a.lowercasedASCII : 0x2d) == b }
  }
}
