import PawlHTTP

@testable import PawlCache

extension FuzzTarget {
  /// Field values: caching, conditions, dates, hosts. Each line of the input is one field line.
  static let fields = [
    FuzzTarget(name: "caching", run: caching), FuzzTarget(name: "conditions", run: conditions),
    FuzzTarget(name: "dates", run: dates), FuzzTarget(name: "hosts", run: hosts),
    FuzzTarget(name: "proxies", run: proxies), FuzzTarget(name: "continuation", run: continuation),
  ]

  /// Reads `Name: value` lines; bytes that no parser would let into a field are left out.
  static func lines(_ parts: some Sequence<ArraySlice<UInt8>>) -> Fields {
    var fields = Fields()
    for line in parts {
      let colon = line.firstIndex(of: 0x3a) ?? line.endIndex
      let name = line[..<colon].filter { ByteSet.token.contains($0) }
      guard !name.isEmpty else { continue }
      let value = line[colon...].dropFirst().filter { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f }
      fields.append(named: name, value[...].trimmed)
    }
    return fields
  }

  @Sendable private static func caching(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let now = Int64(truncatingIfNeeded: input.word() >> 16)
    let halves = input.text.split(separator: 0x00, maxSplits: 1, omittingEmptySubsequences: false)
    let response = lines(halves[0].split(separator: 0x0a))
    let request = lines(halves.dropFirst().flatMap { $0.split(separator: 0x0a) })
    let control = CacheControl(response)
    for seconds in [control.maxAge, control.sMaxAge, control.minFresh, control.staleIfError] {
      if let seconds, seconds < 0 || seconds > CacheControl.longest { breach("a lifetime of \(seconds) s") }
    }
    // Lines of one field mean what the same lines mean when they are joined (RFC 9110 §5.3). A quoted string may not reach over a
    // line end.
    let values = response.all(.cacheControl)
    if values.allSatisfy({ !$0.contains(0x22) }), let joined = response.combined(.cacheControl),
      CacheControl([joined]) != control
    {
      breach("joined lines of Cache-Control differ")
    }
    let vary = VaryRule(response)
    let selecting = vary.selectingValues(in: request)
    if selecting != vary.selectingValues(in: request) { breach("Vary is not the same twice") }
    _ = TargetedCacheControl.parse(cdn: response.all(.cdnCacheControl))
    if Age.parse(response) < 0 { breach("a negative age") }
    let head = StoredHead(
      status: 200, fields: response, requestTime: now, responseTime: now &+ 1, bytesDate: nil, selecting: selecting,
      implicitKey: [])
    let again = StoredHead(serialized: head.serialize())
    if again?.serialize() != head.serialize() { breach("a stored head, read again, differs") }
  }

  @Sendable private static func conditions(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let isGet = input.flag()
    let halves = input.text.split(separator: 0x00, maxSplits: 1, omittingEmptySubsequences: false)
    let response = lines(halves[0].split(separator: 0x0a))
    let request = lines(halves.dropFirst().flatMap { $0.split(separator: 0x0a) })
    let validators = Validators(response, receivedAt: 1_700_000_000)
    if let tag = validators.tag {
      guard EntityTag(tag.bytes[...]) == tag else { breach("a tag, read again, differs") }
    }
    let head = RequestHead(method: isGet ? .get : .put, target: Bytes("/"), fields: request)
    let found = evaluatePreconditions(head, validators: validators) { tag, strongly in
      validators.tag.map { strongly ? tag.matchesStrongly($0) : tag.matchesWeakly($0) } ?? false
    }
    if found == .notModified, !isGet { breach("304 to PUT") }
    if let condition = IfRange(request), condition.holds(for: validators), validators.tag?.isWeak != false,
      case .tag = condition
    {
      breach("If-Range holds for a weak tag")
    }
  }

  @Sendable private static func dates(_ bytes: [UInt8]) {
    guard let seconds = HTTPDate.parse(bytes[...]) else { return }
    let text = HTTPDate.format(seconds)
    guard text.count == 29, HTTPDate.parse(text[...]) == seconds else { breach("\(seconds) is written as \(text)") }
    if HTTPDate.parse(bytes[...], now: 1_700_000_000) == nil { breach("it is a date only without a clock") }
  }

  @Sendable private static func hosts(_ bytes: [UInt8]) {
    let value = bytes[...]
    if let host = Authority.parseHost(value) {
      if host.contains(where: { $0 <= 0x20 || $0 == 0x2f || $0 == 0x40 || $0 >= 0x7f }) { breach("a host of \(host)") }
      if Authority.parseHost(host) != host { breach("a host, read again, differs") }
      _ = Authority.port(of: host)
      _ = Authority.hostOnly(host)
    }
    for method in [Method.get, .options, .connect] {
      guard let target = RequestTarget.parse(value, method: method) else { continue }
      _ = target
      _ = RequestTarget.path(of: value)
    }
  }

  @Sendable private static func proxies(_ bytes: [UInt8]) {
    var fields = lines(bytes.split(separator: 0x0a))
    let options = HopByHop.connectionOptions(fields)
    if options.close, options.keepAlive, !fields.contains(.connection) { breach("options without a field") }
    _ = Via.passages(in: fields)
    _ = LiveStream.isOne(fields)
    let encoding = AcceptEncoding(fields)
    if let best = encoding.preferred(among: ContentCoding.allCases), !encoding.accepts(best) { breach("\(best)") }
    let address = OriginAddress(host: Bytes("app.test"), port: 80, isSecure: false, base: Bytes("/base"))
    OriginReferences.unbind(&fields, from: address, asked: Bytes("shop.test"))
    HopByHop.strip(&fields)
    for line in fields.lines where HopByHop.isHopByHop(line.name) { breach("\(line.name) is left") }
    let once = fields
    HopByHop.strip(&fields)
    if fields != once { breach("stripped twice, it differs") }
    Via.append(to: &fields, version: .http11)
  }

  /// Whether an answer continues a broken body: the answer and the stored head are lines, the kept bytes are a number.
  @Sendable private static func continuation(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let (held, total) = (input.word() >> 40, input.word() >> 40)
    let status = [200, 206, 416, 304, 404, 503][input.number(below: 6)]
    let (isLong, canReplay) = (input.flag(), input.flag())
    let halves = input.text.split(separator: 0x00, maxSplits: 1, omittingEmptySubsequences: false)
    let first = ResponseHead(status: 200, fields: lines(halves[0].split(separator: 0x0a)))
    let answer = ResponseHead(
      status: status, fields: lines(halves.dropFirst().flatMap { $0.split(separator: 0x0a) }))
    let framing = BodyFraming.length(isLong ? total : held)
    let identity = RepresentationIdentity(head: first, framing: .length(total), receivedAt: 1_700_000_000)
    let condition = Array("\"a\"".utf8)
    let wanted: [ResumeDecision] = [
      .askForRest(from: held, overlap: 0, ifRange: condition),
      .askForRest(from: held / 2, overlap: held / 2, ifRange: condition), .replay(comparing: held),
    ]
    for asked in wanted {
      let verdict = judgeContinuation(
        asked: asked, identity: identity, answer: answer, framing: framing, canReplay: canReplay)
      guard case .append(let from) = verdict else { continue }
      if status != 206 { breach("\(status) is appended") }
      guard case .satisfied(let range)? = answer.fields.only(.contentRange).flatMap({ ContentRange.parse($0) }),
        range.range.first == from
      else { breach("appended where the range is another") }
      if let tag = first.fields.first(.etag), let other = answer.fields.first(.etag), tag != other,
        EntityTag(tag) != nil, EntityTag(other) != nil
      {
        breach("bytes of \(other) after bytes of \(tag)")
      }
    }
  }
}
