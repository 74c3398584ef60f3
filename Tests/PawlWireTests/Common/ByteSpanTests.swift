import Testing

@testable import PawlWire

@Suite("Byte classes and scans") struct BytesTests {
  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  private static let visible = String(String.UnicodeScalarView((0x21...0x7e).map { Unicode.Scalar($0) }))

  @Test("each class holds what the RFC says and nothing beyond ASCII")
  func classes() {
    let classes: [(ASCIISet, String)] = [
      (.token, "!#$%&'*+-.^_`|~0123456789" + Self.letters),
      (.target, Self.visible.filter { $0 != "#" && $0 != "\\" }),
      (.hostName, "-._~0123456789" + Self.letters),
      (.quotedText, "\t " + Self.visible.filter { $0 != "\"" && $0 != "\\" }),
    ]
    for (set, members) in classes {
      #expect((0...255).filter { set.contains($0) } == latin(members).sorted())
    }
  }

  @Test("finds a control character at any place beside any bytes")
  func controls() {
    for control in Array(0...0x1f) + [0x7f] as [UInt8] where control != 0x09 {
      for place in 0..<20 {
        for filler in [0x20, 0x7e, 0x80, 0xff, 0x09, 0x41] as [UInt8] {
          var bytes = [UInt8](repeating: filler, count: 20)
          #expect(bytes.span.firstControl(from: 0, to: 20) == 20)
          bytes[place] = control
          bytes[19] = place < 19 ? 0 : control
          #expect(bytes.span.firstControl(from: 0, to: 20) == place)
        }
      }
    }
  }

  @Test("finds the end of a target and of a plain name at any place")
  func ends() {
    for byte in 0...255 as ClosedRange<UInt8> {
      for place in 0..<20 {
        for filler in [0x21, 0x7e, 0x41, 0x2d] as [UInt8] {
          var bytes = [UInt8](repeating: filler, count: 40)
          bytes[place] = byte
          bytes[place + 1] = 0x20
          let target = ASCIISet.target.contains(byte) ? place + 1 : place
          #expect(bytes.span.endOfTarget(from: 0, to: 40) == target)
          guard filler == 0x41 || filler == 0x2d else { continue }
          let isPlain = byte == 0x2d || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a && byte < 0x80
          #expect(bytes.span.endOfPlainName(from: 0, to: 40) == (isPlain ? place + 1 : place))
        }
      }
    }
  }

  @Test("finds a byte within the bounds only")
  func first() {
    let bytes = latin("aaaaaaaaaaaaaaaaaaaabaab")
    #expect(bytes.span.first(0x62, from: 0, to: 24) == 20)
    #expect(bytes.span.first(0x62, from: 21, to: 24) == 23)
    #expect(bytes.span.first(0x62, from: 0, to: 20) == nil)
    #expect(bytes.span.first(0x62, from: 24, to: 24) == nil)
  }
}
