import Testing

@testable import PawlWire

@Suite("Progress within a head") struct HeadProgressTests {
  @Test("an unfinished line is read again only when something other than text came in")
  func news() {
    let bytes = latin("abc\tdef\r\nghi\u{0}")
    var progress = HeadProgress()
    progress.begin(at: 0)
    var news: [Int] = []
    for count in 1...bytes.count where progress.hasNews(bytes.span.extracting(0..<count)) {
      news.append(count)
      if count == 9 { progress.lineStart = 9 }
    }
    // After the carriage return, because what follows it matters, and after the line feed and the NUL.
    #expect(news == [8, 9, 13])
  }

  @Test("goes on only with the head that was begun")
  func continues() {
    var progress = HeadProgress()
    #expect(!progress.continues(at: 0))
    progress.begin(at: 3)
    #expect(progress.continues(at: 3) && !progress.continues(at: 4))
    progress.finish()
    #expect(!progress.continues(at: 3))
  }
}
