import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Multipart forms as browsers make them") struct MultipartFormTests {
  private func form(
    _ field: String = "file", _ name: String?, _ type: String? = nil, _ fields: [(String, String)] = []
  ) -> MultipartForm {
    MultipartForm(
      field: Array(field.utf8), fileName: name.map { Array($0.utf8) }, mediaType: type.map { Array($0.utf8) },
      fields: fields.map { (name: Array($0.0.utf8), value: Array($0.1.utf8)) }, boundary: Array("XyZ".utf8))
  }

  @Test("fields come first, then the file, then the end")
  func whole() {
    let form = form("upload", "a.txt", "text/plain", [("title", "Grüße"), ("empty", "")])
    #expect(form.contentType[...].text == "multipart/form-data; boundary=XyZ")
    #expect(
      form.prefix[...].text == """
        --XyZ\r\nContent-Disposition: form-data; name="title"\r\n\r\nGrüße\r\n\
        --XyZ\r\nContent-Disposition: form-data; name="empty"\r\n\r\n\r\n\
        --XyZ\r\nContent-Disposition: form-data; name="upload"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n
        """)
    #expect(form.suffix[...].text == "\r\n--XyZ--\r\n")
  }

  @Test(
    "names are escaped as the standard has it",
    arguments: [
      ("a\"b", "a%22b"), ("a\\b", "a\\b"), ("a%22b", "a%22b"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"),
      ("a\r\nb", "a%0D%0Ab"), ("\n\n", "%0D%0A%0D%0A"), ("ü;=", "ü;="),
    ])
  func names(_ name: String, _ escaped: String) {
    let start = "--XyZ\r\nContent-Disposition: form-data; name=\"\(escaped)\"; filename=\"f\"\r\n"
    #expect(form(name, "f").prefix.starts(with: start.utf8))
  }

  @Test("values have the line ends of the wire")
  func values() {
    let prefix = form("f", "f", nil, [("a", "1\n2\r3\r\n4\n\r5")]).prefix[...].text
    #expect(
      prefix.utf8.starts(
        with: "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n3\r\n4\r\n\r\n5\r\n--".utf8))
  }

  @Test(
    "file names are made harmless, then escaped; without one it is a blob",
    arguments: [
      ("a\"b.txt", "a%22b.txt"), ("dir/x\r\ny", "xy"), ("Grüße 🦀.pdf", "Grüße 🦀.pdf"), ("..", "blob"), (nil, "blob"),
    ] as [(String?, String)])
  func fileNames(_ name: String?, _ expected: String) {
    let lines = "--XyZ\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(expected)\"\r\n"
    #expect(form("file", name).prefix[...].text == lines + "Content-Type: application/octet-stream\r\n\r\n")
  }
}
