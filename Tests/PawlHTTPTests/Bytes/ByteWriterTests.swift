import Testing

@testable import PawlHTTP

@Suite("Bytes written into room that is there") struct ByteWriterTests {
  @Test("follow what was there, in order, whatever they come from")
  func order() {
    var bytes = Array("> ".utf8)
    bytes.append(atMost: 64) { output in
      output.put("a")
      output.put(0x62)
      output.put([0x63])
      output.put(Bytes("xdx")[1..<2])
      output.put([])
      output.put(Bytes(""))
      output.put("")
      output.put(decimal: 0)
      output.put(decimal: .max)
    }
    #expect(String(decoding: bytes, as: UTF8.self) == "> abcd018446744073709551615")
  }

  @Test("may fill their room to the last")
  func full() {
    var bytes: [UInt8] = []
    bytes.append(atMost: 3) { $0.put("abc") }
    bytes.append(atMost: 0) { _ in }
    #expect(bytes == Array("abc".utf8))
  }
}
