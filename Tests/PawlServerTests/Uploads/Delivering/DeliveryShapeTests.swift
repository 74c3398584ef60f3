import PawlConfig
import PawlHTTP
import PawlUploadStore
import Testing

@testable import PawlServer

@Suite("How an upload is described to its origin") struct DeliveryShapeTests {
  /// name: ü.png, type: image/png, title: hi
  private static let metadata = "filename w7wucG5n,filetype aW1hZ2UvcG5n,title aGk="

  private func shape(
    isTus: Bool = true, metadata: String? = metadata, _ fields: [(FieldName, String)] = [],
    _ change: (inout UploadSettings) -> Void = { _ in }
  ) -> DeliveryShape {
    let head = RequestHead(method: .post, target: Bytes("/"), fields: Fields(fields))
    let origin = UploadOrigin(head: head, isTus: isTus, metadata: metadata.map { Array($0.utf8) })
    var settings = UploadSettings()
    change(&settings)
    return DeliveryShape(origin, settings) { Array("b".utf8) }
  }

  private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  @Test("an upload of the drafts describes itself")
  func drafts() {
    let shape = shape(isTus: false) { $0.tusForward = .multipart }
    #expect(shape.contentType == nil && shape.disposition == nil && shape.prefix == [] && shape.suffix == [])
  }

  @Test("one of tus is described by its metadata, raw")
  func raw() {
    let described = shape()
    #expect(text(described.contentType) == "image/png" && described.prefix == [] && described.suffix == [])
    #expect(text(described.disposition) == "inline; filename=\"_.png\"; filename*=UTF-8''%C3%BC.png")
    let bare = shape(metadata: nil)
    #expect(text(bare.contentType) == "application/octet-stream" && bare.disposition == nil)
    #expect(shape([(.contentDisposition, "attachment")]).disposition == nil)
  }

  @Test("or wrapped in the form that the route describes")
  func form() {
    let shape = shape { settings in
      settings.tusForward = .multipart
      settings.tusForm = [FormEntry(name: "t", template: "{title}!")]
    }
    #expect(text(shape.contentType) == "multipart/form-data; boundary=b" && shape.disposition == nil)
    #expect(
      text(shape.prefix + shape.suffix) == "--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\nhi!\r\n"
        + "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"ü.png\"\r\nContent-Type: image/png\r\n\r\n"
        + "\r\n--b--\r\n")
  }

  @Test("a boundary is random")
  func boundary() {
    let (one, other) = (DeliveryShape.randomBoundary(), DeliveryShape.randomBoundary())
    #expect(one != other && one.count == 36)
  }
}
