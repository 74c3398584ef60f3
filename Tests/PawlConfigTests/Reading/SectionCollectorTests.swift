import PawlConfig
import Testing

@Suite("Files, includes and substitution") struct SectionCollectorTests {
  static let file = "/etc/pawl/pawl.ini"

  @Test("included files are read in lexical order, and paths count from the file they stand in")
  func includes() throws {
    let files = [
      "/etc/pawl/conf.d/20.ini": "[site:default]\nupstream = app",
      "/etc/pawl/conf.d/10.ini":
        "[cache:default]\npath = cache\n[pawl]\nstate-dir = ../state\naccess-log = log/access.log",
      "/etc/pawl/up.ini": "[upstream:app]\nurl = http://a",
    ]
    let configuration = try load("[include]\nfiles = conf.d/*.ini\nfiles = up.ini", files: files)
    #expect(configuration.caches.first?.path == "/etc/pawl/conf.d/cache")
    #expect(configuration.process.stateDirectory == "/etc/pawl/state")
    #expect(configuration.process.accessLog == .file(path: "/etc/pawl/conf.d/log/access.log"))
    #expect(configuration.effective.first?.values.first?.origin == .file(path: "/etc/pawl/conf.d/10.ini", line: 4))
  }

  @Test(
    "what is wrong with files is told where it stands",
    arguments: [
      (
        "[include]\nfiles = a.ini", ["/etc/pawl/a.ini": "[include]\nfiles = pawl.ini"],
        "/etc/pawl/a.ini:2: [include] files: files include each other in a circle: /etc/pawl/pawl.ini -> /etc/pawl/a.ini -> /etc/pawl/pawl.ini"
      ),
      ("[include]\nfiles = none.ini", [:], "\(file):2: cannot read /etc/pawl/none.ini: No such file or directory"),
      (
        "[include]\nfiles =", [:],
        "\(file):2: [include] files: expected files to include, such as conf.d/*.ini, found nothing"
      ),
      ("[include]\nfile = a", [:], "\(file):2: [include] file: unknown key - did you mean \"files\"?"),
      ("workers = 1", [:], "\(file):1: workers: expected a [section] before the first key"),
      (
        "[pawl]\nworkers", [:],
        "\(file):2: [pawl] expected key = value, [section] or a comment, found \"workers\" - did you mean \"workers = VALUE\"?"
      ),
      ("[pawl]\n= 1", [:], "\(file):2: [pawl] expected a key before ="),
      ("[pawl\nworkers = 1", [:], "\(file):1: expected [section] or [section:NAME], found \"[pawl\""),
      ("[pawl:x]", [:], "\(file):1: [pawl:x] expected [pawl]: there is only one - did you mean \"pawl\"?"),
      (
        "[cache]", [:],
        "\(file):1: [cache] expected [cache:NAME]; letters, digits, \".\", \"_\" and \"-\" make a name - did you mean \"cache:default\"?"
      ),
      ("[pawl]\nworkers = 1\nworkers = 2", [:], "\(file):3: [pawl] workers: this key is already set at \(file):2"),
      ("[pawl]\n[cache:default]\n[pawl]", [:], "\(file):3: [pawl] this section stands already at \(file):1"),
      ("[pawl]\nworkers = 2 # cores", [:], "\(file):2: [pawl] workers: a comment needs a line of its own"),
      (
        "[pawl]\nstate-dir = ${PAWL_DIR}", [:],
        "\(file):2: [pawl] state-dir: the environment has no variable PAWL_DIR - did you mean \"${PAWL_DIR:-default}\"?"
      ),
    ] as [(String, [String: String], String)])
  func mistakesInFiles(_ text: String, _ files: [String: String], _ expected: String) {
    let found = mistakes(in: smallest.isEmpty ? text : text + "\n" + smallest, files: files)
    #expect(found == [expected])
  }

  @Test("files are included eight deep, not deeper")
  func depth() {
    var files = [String: String]()
    for level in 1...9 { files["/etc/pawl/\(level).ini"] = "[include]\nfiles = \(level + 1).ini" }
    files["/etc/pawl/8.ini"] = smallest
    #expect(mistakes(in: "[include]\nfiles = 1.ini", files: files) == [])
    files["/etc/pawl/8.ini"] = "[include]\nfiles = 9.ini"
    files["/etc/pawl/9.ini"] = ""
    #expect(
      mistakes(in: smallest + "[include]\nfiles = 1.ini", files: files) == [
        "/etc/pawl/8.ini:2: [include] files: files are included more than 8 deep"
      ])
  }

  @Test("a file is read once only")
  func twice() {
    let files = ["/etc/pawl/a.ini": ""]
    #expect(
      mistakes(in: smallest + "[include]\nfiles = a.ini\nfiles = ./a.ini", files: files) == [
        "\(Self.file):7: [include] files: /etc/pawl/a.ini is included a second time"
      ])
  }
}
