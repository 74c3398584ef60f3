package import PawlHTTP

/// Every answer that pawl itself gives about an upload, and the origin's answer in the shape of the client's protocol.
/// Connection and framing fields are the caller's; bodies are left out of answers to HEAD by the caller.
package enum UploadReplies {
  /// 104 with the upload's URL, to be sent before the content is read (protocols 1.4). Each creation gets one.
  /// `nil` where the client could not understand it.
  package static func announcement(
    _ version: InteropVersion, location: [UInt8], limits: UploadLimits
  ) -> ResponseHead? {
    IETFDialect.announcement(version, location: location, limits: limits)
  }

  /// 104 that tells how many bytes are durable. `nil` for versions that know a single 104.
  package static func progress(_ version: InteropVersion, offset: UInt64) -> ResponseHead? {
    IETFDialect.progress(version, offset: offset)
  }

  /// Keeps the connection of a client alive while the origin works: 104, 102 in versions with a single 104, nothing in
  /// tus, whose clients expect no 1xx.
  package static func keepAlive(_ protocol: UploadProtocol, offset: UInt64) -> ResponseHead? {
    switch `protocol` {
    case .ietf(let version): IETFDialect.keepAlive(version, offset: offset)
    case .tus: nil
    }
  }

  /// The upload is made and not complete.
  package static func created(
    _ protocol: UploadProtocol, location: [UInt8], _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.created(version, location: location, status, limits)
    case .tus: TusDialect.created(location: location, status, limits)
    }
  }

  /// Content was added, and the upload is not complete.
  package static func appended(
    _ protocol: UploadProtocol, _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.appended(version, status, limits)
    case .tus: TusDialect.appended(status, limits)
    }
  }

  /// The answer to HEAD, and to GET where nothing else is to be had; in any phase.
  package static func status(
    _ protocol: UploadProtocol, _ status: UploadFacts, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.status(version, status, limits)
    case .tus: TusDialect.status(status, limits)
    }
  }

  package static func cancelled(_ protocol: UploadProtocol) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.cancelled(version)
    case .tus: TusDialect.cancelled()
    }
  }

  /// - Parameter status: of the upload that the request was about; `nil` where there is none.
  package static func refusal(
    _ refusal: UploadRefusal, _ protocol: UploadProtocol, _ status: UploadFacts?, _ limits: UploadLimits
  ) -> UploadReply {
    switch `protocol` {
    case .ietf(let version): IETFDialect.refusal(refusal, version, status, limits)
    case .tus: TusDialect.refusal(refusal, status, limits)
    }
  }

  /// The origin's answer as the client gets it.
  /// - Parameters:
  ///   - head: without hop-by-hop fields.
  ///   - total: bytes of the upload.
  ///   - location: the upload's URL when the request was its creation, else `nil`.
  ///   - consumed: `false` when the upload can be completed again (``DeliveryPolicy/verdict(status:)``).
  ///   - target: the creation's, to which the origin's references are relative.
  /// - Returns: `keepsBody` tells whether the origin's content goes with it.
  package static func answer(
    _ head: ResponseHead, _ protocol: UploadProtocol, total: UInt64, location: [UInt8]?, consumed: Bool,
    target: Bytes? = nil
  ) -> (head: ResponseHead, keepsBody: Bool) {
    var head = head
    if location == nil, let target { RelativeReferences.anchor(&head.fields, at: target) }
    switch `protocol` {
    case .ietf(let version):
      return (IETFDialect.answer(head, version, total: total, location: location, consumed: consumed), true)
    case .tus: return TusDialect.answer(head, total: total, location: location, consumed: consumed)
    }
  }

  /// What OPTIONS on a target or an upload's URL is told, both protocols at once (protocols 1.7, 4.1).
  /// - Parameter version: the request's, where it names one.
  package static func discovery(_ limits: UploadLimits, version: InteropVersion? = nil) -> Fields {
    var fields = IETFDialect.discovery(version, limits)
    let tus = TusDialect.discovery(limits)
    for line in tus.lines { fields.append(named: tus.name(line), tus.value(line)) }
    return fields
  }
}
