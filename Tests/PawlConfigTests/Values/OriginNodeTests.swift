import Testing

@testable import PawlConfig

@Suite("Nodes of an upstream") struct OriginNodeTests {
  @Test(
    "are shown in one form",
    arguments: [
      ("http://a", ["http://a"]), ("http://a:80/ weight=1", ["http://a"]), ("http://a weight=3", ["http://a weight=3"]),
      ("http://a  backup\tweight=1000", ["http://a weight=1000 backup"]),
      ("http://a http://b backup https://c weight=2", ["http://a", "http://b backup", "https://c weight=2"]),
      ("http://unix:/run/a backup", ["http://unix:/run/a backup"]),
    ])
  func reads(_ text: String, _ expected: [String]) throws {
    let shown = try OriginNode.split(text).map { try ValueFormat<OriginNode>.originNode.read($0, "/").description }
    #expect(shown == expected)
  }

  @Test(
    "say what is wrong",
    arguments: [
      ("http://a weight=0", "expected weight=NUMBER, a whole number from 1 to 1000, found \"weight=0\""),
      ("http://a weight=1001", "expected weight=NUMBER, a whole number from 1 to 1000, found \"weight=1001\""),
      ("http://a weight=", "expected weight=NUMBER, a whole number from 1 to 1000, found \"weight=\""),
      ("http://a bakup", "expected weight=NUMBER or backup behind a URL, found \"bakup\" - did you mean \"backup\"?"),
      (
        "http://a wieght=3",
        "expected weight=NUMBER or backup behind a URL, found \"wieght=3\" - did you mean \"weight\"?"
      ),
      ("http://a backup backup", "backup stands twice behind http://a"),
      ("http://a weight=2 weight=3", "weight stands twice behind http://a"),
      (
        "http://a 10.0.0.2:80",
        "expected a URL such as http://127.0.0.1:9000, found \"10.0.0.2:80\" - did you mean \"http://10.0.0.2:80\"?"
      ),
      ("weight=3", "expected a URL such as http://127.0.0.1:9000, found \"weight=3\""),
      ("", "expected a URL such as http://127.0.0.1:9000, found nothing"),
    ])
  func refuses(_ text: String, _ expected: String) {
    let said = mistakes(in: "[upstream:app]\nurl = \(text)\n[site:x]\nupstream = app")
    #expect(said == ["/etc/pawl/pawl.ini:2: [upstream:app] url: \(expected)"])
  }

  @Test(
    "statuses",
    arguments: [
      ("200", 200...200), ("200-399", 200...399), ("599", 599...599), ("199", nil), ("600", nil), ("300-200", nil),
      ("200-", nil), ("-200", nil), ("2xx", nil), ("", nil),
    ] as [(String, ClosedRange<Int>?)])
  func statuses(_ text: String, _ expected: ClosedRange<Int>?) throws {
    guard let expected else {
      #expect(throws: BadValue.self) { try ValueFormat<ClosedRange<Int>>.statuses.read(text, "/") }
      return
    }
    let read = try ValueFormat<ClosedRange<Int>>.statuses.read(text, "/")
    #expect(read == expected)
    #expect(ValueFormat<ClosedRange<Int>>.statuses.show(read) == text)
  }
}
