import PawlHTTP

/// Answers in tus 1.0.0.
enum TusDialect {
  static func created(location: [UInt8], _ status: UploadStatus, _ limits: UploadLimits) -> UploadReply {
    UploadReply(ResponseHead(status: 201))
  }

  static func appended(_ status: UploadStatus, _ limits: UploadLimits) -> UploadReply {
    UploadReply(ResponseHead(status: 204))
  }

  static func status(_ status: UploadStatus, _ limits: UploadLimits) -> UploadReply {
    UploadReply(ResponseHead(status: 200))
  }

  static func cancelled() -> UploadReply { UploadReply(ResponseHead(status: 204)) }

  static func refusal(_ refusal: UploadRefusal, _ status: UploadStatus?, _ limits: UploadLimits) -> UploadReply {
    UploadReply(ResponseHead(status: 400))
  }

  static func answer(
    _ head: ResponseHead, total: UInt64, location: [UInt8]?, consumed: Bool
  ) -> (head: ResponseHead, keepsBody: Bool) {
    (head, true)
  }

  static func discovery(_ limits: UploadLimits) -> Fields { Fields() }
}
