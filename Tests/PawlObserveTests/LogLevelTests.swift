import PawlObserve
import Testing

@Suite("Log level") struct LogLevelTests {
  @Test("is read from its word")
  func words() {
    for level in LogLevel.allCases { #expect(LogLevel(level.word.description) == level) }
    #expect(LogLevel("Info") == nil)
    #expect(LogLevel("") == nil)
    #expect(LogLevel.debug < LogLevel.info && LogLevel.warning < LogLevel.error)
  }
}
