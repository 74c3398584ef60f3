import PawlHTTP
import PawlUpload

/// What `log-level = debug` says about the upload protocol of a request, and why it is not another one.
enum UploadExplanation {
  static func text(_ kind: RequestKind, _ head: RequestHead, _ policy: DispatchPolicy) -> String {
    switch kind {
    case .plain: "none: \(whyPlain(head, policy))"
    case .foreign: "left to the origin: a protocol that pawl does not speak, or Incremental"
    case .small: "none: smaller than min-resumable, so it is passed on as a plain request"
    case .creation(_, let speech): "a creation by \(name(speech))"
    case .resource(_, _, let speech): "the URL of an upload, by \(name(speech))"
    case .refused(_, let speech, _): "refused, by the rules of \(name(speech))"
    case .discovery: "OPTIONS asks which uploads are supported"
    }
  }

  private static func name(_ speech: UploadProtocol) -> String {
    switch speech {
    case .tus: "tus 1.0.0 (it has Tus-Resumable)"
    case .ietf(let version): "the IETF draft (\(version))"
    }
  }

  /// Why a request with content speaks no upload protocol.
  private static func whyPlain(_ head: RequestHead, _ policy: DispatchPolicy) -> String {
    let fields = head.fields
    let isDraft = fields.contains(.uploadComplete) || fields.contains(.uploadIncomplete)
    guard isDraft else { return "neither Tus-Resumable nor Upload-Complete" }
    guard InteropVersion.of(fields, allowsFinal: policy.allowsFinal) != nil else {
      return "Upload-Complete without an Upload-Draft-Interop-Version that pawl knows (final-dialect = on accepts none)"
    }
    return "its method or its Upload-Complete does not create an upload"
  }
}
