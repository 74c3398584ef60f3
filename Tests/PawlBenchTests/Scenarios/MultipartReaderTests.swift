import Testing

@testable import PawlBench

@Suite("multipart/byteranges (RFC 9110 §14.6)") struct MultipartReaderTests {
  private static let type = "multipart/byteranges; boundary=\"b1\""
  private static let good =
    "\r\n--b1\r\nContent-Type: a/b\r\nContent-Range: bytes 0-2/10\r\n\r\n012\r\n--b1\r\n"
    + "content-range: bytes 5-6/10\r\n\r\n56\r\n--b1--\r\n"

  /// What is found, one word for each step; content byte by byte.
  private func read(_ text: String, type: String = type, pieces: Int) -> [String] {
    var reader = MultipartReader()
    guard reader.begin(Array("HTTP/1.1 206 P\r\nContent-Type: \(type)\r\n\r\n".utf8).span) else { return ["no"] }
    var found: [String] = []
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
      start += piece.count
      var at = 0
      step: while true {
        switch piece.withUnsafeBufferPointer({ reader.next($0, &at) }) {
        case .more: break step
        case .part(let range): found.append("\(range.first)-\(range.last)")
        case .content(let start, let count, let offset):
          for index in 0..<count {
            found.append("\(offset + UInt64(index)):\(String(decoding: [piece[start + index]], as: UTF8.self))")
          }
        case .malformed: return found + ["malformed"]
        }
      }
    }
    return found + [reader.finish() ? "end" : "open"]
  }

  @Test("parts are found in pieces of any size", arguments: [1, 2, 7, 1000])
  func parts(_ pieces: Int) {
    let wanted = ["0-2", "0:0", "1:1", "2:2", "5-6", "5:5", "6:6", "end"]
    #expect(read(Self.good, pieces: pieces) == wanted)
    #expect(
      read(String(Self.good.dropFirst().dropLast()), type: "multipart/byteranges;boundary=b1", pieces: pieces) == wanted
    )
  }

  @Test("an answer that ends before its closing delimiter is open")
  func open() {
    #expect(read(String(Self.good.prefix(80)), pieces: 9).last == "open")
  }

  @Test(
    "what breaks the form is malformed",
    arguments: [
      "--b2\r\n", "--b1x\r\n", "--b1\r\n\r\nabc", "--b1\r\nContent-Range: bytes 3-2/10\r\n\r\n",
      "--b1\r\nContent-Range: bytes 0-2/10\r\n\r\n0123\r\n--b1--",
      "--b1\r\nContent-Range: bytes 0-2/10\r\n\r\n012--b1--\r\n",
      "--b1\r\nContent-Range: bytes 0-0/9\r\nContent-Range: bytes 0-1/9\r\n\r\n",
    ])
  func malformed(_ text: String) {
    for pieces in [1, 100] { #expect(read(text, pieces: pieces).last == "malformed") }
  }

  @Test("another type is none", arguments: ["text/plain", "multipart/byteranges", "multipart/byteranges; boundary="])
  func type(_ type: String) { #expect(read(Self.good, type: type, pieces: 100) == ["no"]) }
}
