import Testing

@testable import PawlObserve

@Suite("Message to the journal") struct JournalMessageTests {
  @Test("has a field for each value; a value of several lines comes with its length")
  func fields() {
    var message: [UInt8] = []
    message.append(journalText: Array("node-down upstream=app".utf8), .warning, event: "node-down")
    message.append(journalKey: "last-error", Array("two\nlines".utf8))
    message.append(journalKey: "upstream", Array("app".utf8))
    #expect(
      message
        == Array("MESSAGE=node-down upstream=app\nPRIORITY=4\nSYSLOG_IDENTIFIER=pawl\nPAWL_EVENT=node-down\n".utf8)
        + Array("PAWL_LAST_ERROR\n".utf8) + [9, 0, 0, 0, 0, 0, 0, 0] + Array("two\nlines\nPAWL_UPSTREAM=app\n".utf8))
  }

  @Test("has the values of a request, without those that are missing")
  func request() {
    var message: [UInt8] = []
    message.append(journal: AccessRecords.record())
    #expect(
      String(decoding: message, as: UTF8.self) == """
        PAWL_REMOTE=192.0.2.1
        PAWL_METHOD=GET
        PAWL_TARGET=/a/b?c=d
        PAWL_STATUS=200
        PAWL_BYTES=1234
        PAWL_DURATION_US=0
        PAWL_BYTES_FROM_CACHE=0
        PAWL_BYTES_FROM_ORIGIN=0
        PAWL_ORIGIN_RESUMES=0
        PAWL_ENDED_BY=done

        """)
  }
}
