import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Uploads in other protocols (UploadProtocols, \"Other upload protocols\")") struct ForeignUploadTests {
  @Test(
    "pass through",
    arguments: [
      ("PUT /b/k?partNumber=1&uploadId=x", ""), ("POST /b/k?uploads", ""), ("POST /b/k?uploads=", ""),
      ("PUT /b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=x", ""),
      ("PUT /b/k", "Authorization: AWS4-HMAC-SHA256 Credential=x"),
      ("PUT /b/k", "Authorization: AWS4-ECDSA-P256-SHA256 x"),
      ("PUT /b/k", "Authorization: AWS key:signature"), ("PUT /b/k", "Content-Encoding: gzip, aws-chunked"),
      ("POST /v2/library/n/blobs/uploads/", ""), ("PATCH /v2/n/blobs/uploads/id", ""),
      ("PUT /v2/n/blobs/uploads/id?digest=x", ""),
      ("POST /v2/n/blobs/uploads?mount=x", ""), ("POST /upload/f?uploadType=resumable", ""),
      ("POST /upload/f?a=b&uploadType=resumable&c", ""), ("PUT /b/k?X-Goog-Signature=x", ""),
      ("POST /o", "X-Goog-Upload-Protocol: resumable"), ("POST /o", "x-goog-upload-command: start"),
      ("POST /o", "X-Goog-Resumable: start"), ("PUT /o", "X-GUploader-No-308: yes"),
      ("POST /me/drive/root:/f:/createUploadSession", ""), ("PUT /up", "Content-Range: bytes 0-4/10"),
      ("POST /up", "Content-Range: bytes */10"), ("PATCH /up", "Content-Range: 0-4"), ("PUT /up", "Content-Range:"),
      ("POST /up", "Session-ID: 1\nX-Content-Range: bytes 0-4/10"), ("POST /s.M/f", "Content-Type: application/grpc"),
      ("POST /s.M/f", "Content-Type: application/grpc+proto"), ("POST /s.M/f", "Content-Type: Application/gRPC-Web; a"),
      ("PATCH /f", "X-Update-Range: append"), ("PATCH /f", "Content-Type: application/x-sabredav-partialupdate"),
      ("GET /socket", "Connection: upgrade\nUpgrade: websocket"), ("GET /socket", "Upgrade: h2c, WebSocket"),
    ])
  func foreign(_ line: String, _ lines: String) {
    #expect(ForeignUpload.isSpoken(Draft.request(line, lines)))
    // URLSession adds its fields to every upload task, whatever an application uses it for.
    let draft = "Upload-Draft-Interop-Version: 6\nUpload-Complete: ?1\nContent-Length: 1000000\n"
    let policy = DispatchPolicy(uploadPrefix: Array("/u/".utf8), minResumable: 0, allowsFinal: true)
    guard case .foreign = UploadDispatch.kind(of: Draft.request(line, draft + lines), policy) else {
      Issue.record("\(line) is not foreign")
      return
    }
  }

  @Test(
    "are not seen in what only resembles them",
    arguments: [
      ("POST /f", "Authorization: Bearer AWS4-x"), ("POST /f", "Authorization: AWSome x"), ("POST /f?uploadsx", ""),
      ("POST /f?uploads=all", ""), ("POST /f?x=partNumber", ""), ("POST /f?uploadType=media", ""),
      ("POST /f?upload_type=resumable", ""), ("POST /v2/n/blobs/", ""), ("POST /v3/n/blobs/uploads/", ""),
      ("POST /v2/?q=/blobs/uploads/", ""), ("POST /f", "X-Goog-Iap-Jwt-Assertion: x"), ("POST /f", "X-Session-ID: x"),
      ("POST /createUploadSessions", ""), ("POST /f", "Content-Type: text/plain"), ("POST /f", "Upgrade: h2c"),
      ("GET /b/k", "Authorization: AWS4-HMAC-SHA256 x"), ("GET /b/k?partNumber=1", ""), ("HEAD /f", "Content-Range: x"),
    ])
  func own(_ line: String, _ lines: String) { #expect(!ForeignUpload.isSpoken(Draft.request(line, lines))) }
}
