import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// The fields that describe an upload's content to the origin, and the form around the content (`tus-forward`).
struct DeliveryShape {
  private(set) var prefix: [UInt8] = []
  private(set) var suffix: [UInt8] = []
  /// The Content-Type that replaces that of the creation; `nil`: that of the creation stays.
  private(set) var contentType: [UInt8]?
  private(set) var disposition: [UInt8]?

  /// A delivery in tus (creation-with-upload), with the content type of that protocol.
  static let tus = DeliveryShape(contentType: Array("application/offset+octet-stream".utf8))

  private init(contentType: [UInt8]) { self.contentType = contentType }

  /// - Parameters:
  ///   - origin: the stored facts about the request that created the upload. If that request followed a draft, not tus, its
  ///     Content-Type and fields are not changed.
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

  /// The tus metadata, which was checked when the upload was created.
  private static func metadata(_ origin: UploadOrigin) -> TusMetadata? {
    guard let field = origin.metadata else { return nil }
    do throws(UploadRefusal) { return try TusMetadata(field[...]) } catch { return nil }
  }

  /// Returns a boundary with 160 random bits.
  static func randomBoundary() -> [UInt8] {
    Array("pawl".utf8) + Randomness.bytes(32).map { Array("abcdefghijklmnopqrstuvwxyz012345".utf8)[Int($0 & 31)] }
  }
}
