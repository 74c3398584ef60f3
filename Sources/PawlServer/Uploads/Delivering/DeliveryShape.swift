import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// How an upload's content is described to its origin, and what it is wrapped in (`tus-forward`).
struct DeliveryShape {
  private(set) var prefix: [UInt8] = []
  private(set) var suffix: [UInt8] = []
  /// In place of the creation's; `nil`: that one stays.
  private(set) var contentType: [UInt8]?
  private(set) var disposition: [UInt8]?

  /// As tus itself sends it (creation-with-upload): the type is the protocol's.
  static let tus = DeliveryShape(contentType: Array("application/offset+octet-stream".utf8))

  private init(contentType: [UInt8]) { self.contentType = contentType }

  /// - Parameters:
  ///   - origin: of an upload; those of the drafts describe themselves.
  ///   - boundary: random letters and digits.
  init(_ origin: UploadOrigin, _ settings: UploadSettings, boundary: () -> [UInt8]) {
    guard origin.isTus else { return }
    let metadata = Self.metadata(origin)
    switch settings.tusForward {
    case .raw:
      contentType = metadata?.mediaType ?? Array("application/octet-stream".utf8)
      guard !origin.head.fields.contains(.contentDisposition) else { return }
      disposition = metadata?.fileName.flatMap(ContentDisposition.inline)
    case .multipart:
      let fields = settings.tusForm.compactMap { FormTemplate($0.description) }
      let form = MultipartForm(
        field: Array(settings.tusField.utf8), fileName: metadata?.fileName, mediaType: metadata?.mediaType,
        fields: fields.map { (name: $0.name, value: $0.value(metadata)) }, boundary: boundary())
      (prefix, suffix, contentType) = (form.prefix, form.suffix, form.contentType)
    }
  }

  /// It was understood when the upload was created.
  private static func metadata(_ origin: UploadOrigin) -> TusMetadata? {
    guard let field = origin.metadata else { return nil }
    do throws(UploadRefusal) { return try TusMetadata(field[...]) } catch { return nil }
  }

  /// 160 random bits.
  static func randomBoundary() -> [UInt8] {
    Array("pawl".utf8) + Randomness.bytes(32).map { Array("abcdefghijklmnopqrstuvwxyz012345".utf8)[Int($0 & 31)] }
  }
}
