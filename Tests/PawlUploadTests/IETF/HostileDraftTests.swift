import PawlHTTP
import Testing

@testable import PawlUpload

/// A small generator with a fixed seed, so that a failure comes back.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

@Suite("Hostile requests about uploads") struct HostileDraftTests {
  private static let names: [FieldName] = [
    .uploadDraftInteropVersion, .uploadComplete, .uploadIncomplete, .uploadOffset, .uploadLength, .uploadMetadata,
    .uploadChecksum, .uploadConcat, .uploadDeferLength, .tusResumable, .incremental, .contentType, .contentDigest,
    .reprDigest, .contentRange, .trailer, .upgrade, .authorization, .xHTTPMethodOverride, .other,
  ]
  private static let values = [
    "?0", "?1", "3", "6", "9", "10", "0", "5;a=b", "999999999999999", "18446744073709551615", "-1", "?", "?1;",
    "application/partial-upload", "sha-256=:YWJj:", "sha-256=:====:", "sha-512=:A:, md5=:AA:", "1.0.0", "websocket",
    "\"", "(", "@1", "%\"%ff\"", ":", "=", "5;a=:", "", "1.0.0, 2", "sha1 YQ==", "filename YQ==", "final;/a /b", "1.",
  ]
  private static let targets = [
    "/", "*", "", "/f?", "/.pawl/uploads/", "/.pawl/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "/v2/blobs/uploads",
    "?", "/?&&=&partNumber", "/v2/",
  ]
  private static let methods: [Method] = [
    .get, .head, .post, .put, .delete, .options, .trace, .connect, .patch, .other([0]),
  ]

  private func bytes(_ random: inout SplitMix) -> [UInt8] {
    var bytes = Array((Self.values.randomElement(using: &random) ?? "").utf8)
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes.insert(.random(in: 0...255, using: &random), at: place)
      case 1: bytes.removeSubrange(place...)
      case 2: bytes += Array((Self.values.randomElement(using: &random) ?? "").utf8)
      default: if place < bytes.count { bytes[place] = .random(in: 0...255, using: &random) }
      }
    }
    return bytes
  }

  private func request(_ random: inout SplitMix) -> RequestHead {
    var fields = Fields()
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      let name = Self.names.randomElement(using: &random) ?? .other
      if name == .other {
        fields.append(named: bytes(&random), bytes(&random))
      } else {
        fields.append(name, bytes(&random))
      }
    }
    var target = Array((Self.targets.randomElement(using: &random) ?? "").utf8)
    if Bool.random(using: &random) { target += bytes(&random) }
    let framing = [BodyFraming.none, .length(0), .length(5), .length(.max), .chunked].randomElement(using: &random)
    return RequestHead(
      method: Self.methods.randomElement(using: &random) ?? .get, target: ([9] + target + [9])[1..<target.count + 1],
      fields: fields, framing: framing ?? .none)
  }

  @Test("no request traps, and nothing below the prefix gets past it", arguments: [1, 2, 3, 4] as [UInt64])
  func survives(_ seed: UInt64) {
    var random = SplitMix(state: seed)
    for _ in 0..<3_000 {
      let head = request(&random)
      let policy = DispatchPolicy(
        uploadPrefix: Array("/.pawl/uploads/".utf8), minResumable: 3, allowsFinal: .random(using: &random))
      let kind = UploadDispatch.kind(of: head, policy)
      if RequestTarget.path(of: head.target).starts(with: policy.uploadPrefix) {
        switch kind {
        case .resource, .refused: break
        default: Issue.record("\(head) is \(kind)")
        }
      }
      answer(kind, head, &random)
    }
  }

  /// Every answer can be written, and holds no line end of the request.
  private func answer(_ kind: RequestKind, _ head: RequestHead, _ random: inout SplitMix) {
    let speech: UploadProtocol
    switch kind {
    case .creation(_, let spoken), .resource(_, _, let spoken), .refused(_, let spoken, _): speech = spoken
    case .plain, .foreign, .small, .discovery: speech = .ietf(Draft.versions.randomElement(using: &random) ?? .final)
    }
    let status = UploadFacts(
      offset: .random(in: 0...UInt64.max, using: &random),
      phase: UploadPhase.allCases.randomElement(using: &random) ?? .open)
    if case .refused(let refusal, _, _) = kind {
      #expect(UploadReplies.refusal(refusal, speech, status, UploadLimits()).head.status >= 400)
    }
    _ = UploadReplies.status(speech, status, UploadLimits(maxSize: .max, minSize: .max, maxAge: .min))
    let origin = ResponseHead(status: 200, fields: head.fields)
    _ = UploadReplies.answer(origin, speech, total: .max, location: nil, consumed: false)
    let forwarded = DeliveryHead.make(
      creation: head, credentials: head.fields, id: "0", length: .max, contentType: bytes(&random), disposition: nil)
    #expect(!forwarded.fields.contains(.uploadComplete) && forwarded.framing == .length(.max))
  }
}
