import PawlConfig
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Logs of the configuration") struct LogSettingsTests {
  @Test("are replaced while requests are served: level, format and file")
  func replaced() throws {
    let pawl = try TestServer.fresh(for: 1000)
    #expect(pawl.record(1, "target") == ["/f"])
    var settings = pawl.server.configuration.process
    settings.logLevel = .error
    settings.accessLog = .file(path: pawl.folder.path + "/other.log")
    settings.accessLogFormat = .custom(try .init("$request_method $uri $status $upstream_cache_status"))
    pawl.server.replaceLogs(try pawl.server.openLogs(settings))
    #expect(pawl.get().text == "1")
    pawl.waitUntil("a line in the new log") {
      pawl.server.services.accessLog?.flush()
      return pawl.folder.read("other.log") == "GET /f 200 HIT\n"
    }
    #expect(pawl.accessLog.count == 1)
    #expect(pawl.server.events.level == .error)
    settings.accessLog = .off
    pawl.server.replaceLogs(try pawl.server.openLogs(settings))
    #expect(pawl.get().text == "1")
    #expect(pawl.server.services.accessLog == nil)
    #expect(pawl.stop() == [])
  }

  @Test("that cannot be opened change nothing")
  func unopenable() throws {
    let pawl = try TestServer.fresh(for: 1000)
    let former = pawl.server.configuration.process
    var settings = former
    settings.accessLog = .file(path: "/nonexistent/directory/access.log")
    #expect(throws: LogError.self) { try pawl.server.openLogs(settings) }
    settings.accessLog = former.accessLog
    settings.log = .journal(path: "/nonexistent/socket")
    settings.logLevel = .error
    #expect(throws: LogError.self) { try pawl.server.openLogs(settings) }
    #expect(pawl.server.events.level == .debug)
    #expect(pawl.get().text == "1")
    #expect(pawl.record(2, "target") == ["/f"])
    #expect(pawl.stop() == [])
  }

  @Test("events go to standard error and the access log to standard output, unless the file says otherwise")
  func targets() {
    var settings = ProcessSettings(stateDirectory: "/s")
    guard case .standardError = settings.eventDestination else { return #expect(Bool(false)) }
    #expect(settings.accessLog == .standardOutput)
    settings.log = .syslog(path: nil)
    (settings.syslogFormat, settings.syslogFacility, settings.logLevel) = (.rfc3164, .local7, .debug)
    guard case .syslog("/dev/log", let header) = settings.eventDestination else { return #expect(Bool(false)) }
    #expect(header.format == .rfc3164 && header.facility == .local7)
    #expect(settings.eventLevel == .debug)
  }
}
