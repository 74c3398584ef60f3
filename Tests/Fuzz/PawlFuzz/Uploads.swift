import PawlBase
import PawlHTTP

@testable import PawlUpload

extension FuzzTarget {
  /// Uploads: heads of all protocols, metadata, joins, digests, and the forms that are made for origins.
  static let uploads = [
    FuzzTarget(name: "upload-head", run: uploadHead), FuzzTarget(name: "tus-metadata", run: tusMetadata),
    FuzzTarget(name: "multipart", run: multipart), FuzzTarget(name: "structured", run: structured),
  ]

  @Sendable private static func uploadHead(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let method = [Method.post, .put, .patch, .head, .get, .delete, .options, .other(Array("PROPPATCH".utf8))][
      input.number(below: 8)]
    let framing = [BodyFraming.none, .chunked, .length(input.word() >> 20), .length(0)][input.number(below: 4)]
    let (isUpload, allowsFinal) = (input.flag(), input.flag())
    let fields = lines(input.parts())
    let target = isUpload ? Bytes("/.uploads/0123456789abcdefABCDEFGHIJKLMNOPQRSTUV_-") : Bytes("/files")
    let head = RequestHead(method: method, target: target, fields: fields, framing: framing)
    let policy = DispatchPolicy(
      uploadPrefix: Array("/.uploads/".utf8), minResumable: 1 << 10, allowsFinal: allowsFinal)
    let kind = UploadDispatch.kind(of: head, policy)
    if "\(kind)" != "\(UploadDispatch.kind(of: head, policy))" { breach("not the same twice") }
    switch kind {
    case .creation(let creation, let speech):
      if isUpload { breach("a creation at an upload") }
      if let length = creation.length, let count = creation.contentLength, count > length { breach("too much content") }
      if case .ietf = speech, method.isRetrieval { breach("created by \(method)") }
    case .resource(_, let command, let speech):
      if !isUpload { breach("an upload elsewhere") }
      guard case .append(let append) = command else { break }
      if let length = append.length, append.offset > length { breach("an offset behind the end") }
      if case .tus = speech, append.contentLength == nil, framing == .none { breach("content without framing") }
    case .refused(let refusal, let speech, _):
      let reply = UploadReplies.refusal(refusal, speech, nil, UploadLimits())
      if !(400...499).contains(reply.head.status) { breach("refused with \(reply.head.status)") }
    case .plain, .foreign, .small, .discovery: break
    }
    checkDelivery(head)
  }

  /// The request to the origin is a plain one, whatever the upload's requests said.
  private static func checkDelivery(_ head: RequestHead) {
    let made = DeliveryHead.make(
      creation: head, credentials: nil, id: "0123", length: 7, contentType: nil, disposition: nil)
    if made.framing != .length(7) { breach("framing \(made.framing)") }
    for line in made.fields.lines {
      let spelling = made.fields.name(line)
      if spelling.prefix(4).equalsIgnoringCase("tus-") || HopByHop.isHopByHop(line.name) { breach("\(line.name)") }
      switch line.name {
      case .uploadOffset, .uploadComplete, .uploadLength, .uploadDraftInteropVersion, .uploadConcat, .transferEncoding:
        breach("\(line.name) goes to the origin")
      default: break
      }
    }
  }

  @Sendable private static func tusMetadata(_ bytes: [UInt8]) {
    do throws(UploadRefusal) {
      let metadata = try TusMetadata(bytes[...])
      if metadata.pairs.count > TusMetadata.mostPairs { breach("too many pairs") }
      let written = metadata.pairs.map { $0.key + [0x20] + Base64.encode($0.value) }.joined(separator: [0x2c])
      let again = try TusMetadata(Array(written)[...])
      if again.pairs != metadata.pairs { breach("pairs, read again, differ") }
      if let name = metadata.fileName.flatMap(FileName.safe) {
        if name.contains(where: { $0 == 0x2f || $0 == 0x5c || $0 < 0x20 }) || name.count > 255 { breach("a name") }
      }
      if let type = metadata.mediaType, type.contains(where: { $0 < 0x20 || $0 >= 0x7f }) { breach("a media type") }
    } catch { guard case .malformed = error else { breach("\(error)") } }
    let head = RequestHead(
      method: .post, target: Bytes("/"),
      fields: lines([Bytes("Tus-Resumable: 1.0.0"), Bytes("Upload-Concat: ") + bytes]))
    guard let urls = TusRequest.parts(head) else { return }
    if urls.isEmpty { breach("no parts") }
    _ = urls.map { TusConcat.token($0, prefix: Array("/.uploads/".utf8)) }
  }

  /// A form of several fields can be taken apart again: nothing in a name or value ends a part or begins a field.
  @Sendable private static func multipart(_ bytes: [UInt8]) {
    let parts = FuzzInput(bytes).parts(at: 0x00).map(Array.init)
    let value: (Int) -> [UInt8] = { $0 < parts.count ? parts[$0] : [] }
    let boundary = Array("pawl-0123456789abcdef".utf8)
    // The boundary is random, so no value holds it.
    guard !parts.contains(where: { String(decoding: $0, as: UTF8.self).contains("pawl-0123456789abcdef") }) else {
      return
    }
    let form = MultipartForm(
      field: value(0), fileName: value(1), mediaType: nil, fields: [(value(2), value(3)), (value(4), value(5))],
      boundary: boundary)
    let text = String(decoding: form.prefix, as: UTF8.self)
    let heads = text.components(separatedBy: "--pawl-0123456789abcdef\r\n")
    if heads.count != 4 { breach("\(heads.count - 1) parts") }
    for head in heads.dropFirst() {
      let lines = head.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n")
      guard lines.count <= 2, lines[0].utf8.starts(with: "Content-Disposition: form-data; name=\"".utf8) else {
        breach("\(lines)")
      }
    }
    if let disposition = ContentDisposition.inline(fileName: value(1)),
      disposition.contains(where: { $0 < 0x20 || $0 > 0x7e })
    {
      breach("Content-Disposition holds \(disposition)")
    }
    if let template = FormTemplate(String(decoding: value(6), as: UTF8.self)) { _ = template.value(nil) }
  }

  @Sendable private static func structured(_ bytes: [UInt8]) {
    let fields = lines(bytes.split(separator: 0x0a))
    for name in [FieldName.uploadOffset, .uploadLength, .uploadDraftInteropVersion] {
      if let value = fields.structuredInteger(name), value > 999_999_999_999_999 { breach("an integer of \(value)") }
    }
    for name in [FieldName.uploadComplete, .uploadIncomplete, .incremental] { _ = fields.structuredBoolean(name) }
    for name in [FieldName.contentDigest, .reprDigest] {
      for claim in RequestDigests.claims(fields, name) where claim.value.count > 64 { breach("a digest") }
    }
    _ = InteropVersion.of(fields, allowsFinal: true)
  }
}

extension String {
  /// The parts between all places where `separator` stands.
  func components(separatedBy separator: String) -> [String] {
    var (parts, part) = ([String](), [UInt8]())
    let (bytes, end) = (Array(utf8), Array(separator.utf8))
    var at = 0
    while at < bytes.count {
      if bytes[at...].starts(with: end) {
        parts.append(String(decoding: part, as: UTF8.self))
        (part, at) = ([], at + end.count)
      } else {
        part.append(bytes[at])
        at += 1
      }
    }
    return parts + [String(decoding: part, as: UTF8.self)]
  }
}
