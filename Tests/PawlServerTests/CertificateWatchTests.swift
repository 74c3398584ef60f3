import CLinux
import PawlLoop
import Testing

@testable import PawlServer

@Suite("When certificates are read again") struct CertificateWatchTests {
  private func at(_ seconds: Double) -> Monotonic {
    Monotonic(nanoseconds: 1_000_000_000_000).advanced(by: .milliseconds(Int64(seconds * 1000)))
  }

  @Test("files that stay as they are are left alone; any that changes, goes or comes is a reason")
  func changes() {
    var watch = CertificateWatch<Int>([1, 2])
    #expect(!watch.looked([1, 2], at: at(0)))
    #expect(watch.looked([1, 3], at: at(1)))
    watch.loaded([1, 3])
    #expect(!watch.looked([1, 3], at: at(2)))
    #expect(watch.looked([1, nil], at: at(3)))
    #expect(watch.looked([1, 2], at: at(3)))
  }

  @Test("what does not fit together is said when it has been left alone for three seconds, once")
  func halfReplaced() {
    var watch = CertificateWatch<Int>([1, 1])
    // The certificate is there, its key is not.
    #expect(watch.looked([2, 1], at: at(1)))
    #expect(!watch.couldNotLoad([2, 1], at: at(1)))
    #expect(!watch.looked([2, 1], at: at(2)))
    // Now it is.
    #expect(watch.looked([2, 2], at: at(3)))
    watch.loaded([2, 2])
    #expect(!watch.looked([2, 2], at: at(4)))
    // Another one is broken, and stays so.
    #expect(watch.looked([3, 2], at: at(5)))
    #expect(!watch.couldNotLoad([3, 2], at: at(5)))
    #expect(!watch.looked([3, 2], at: at(7.9)))
    #expect(watch.looked([3, 2], at: at(8)))
    #expect(watch.couldNotLoad([3, 2], at: at(8)))
    #expect(!watch.looked([3, 2], at: at(9)))
    #expect(!watch.looked([3, 2], at: at(90)))
    #expect(watch.looked([4, 2], at: at(91)))
  }

  @Test("what goes on changing is tried each time, and not said")
  func restless() {
    var watch = CertificateWatch<Int>([0])
    for second in 1...20 {
      #expect(watch.looked([second], at: at(Double(second))))
      #expect(!watch.couldNotLoad([second], at: at(Double(second))))
    }
    // Back to what it was: nothing has happened.
    #expect(!watch.looked([0], at: at(21)))
  }

  @Test("a file's mark tells one that was written, renamed over, or linked to anew")
  func marks() throws {
    let folder = try TemporaryFolder()
    func path(_ name: String) -> String { "\(folder.path)/\(name)" }
    folder.write("a", "one")
    #expect(FileMark.of(path("absent")) == nil)
    let first = FileMark.of(path("a"))
    #expect(first != nil && first == FileMark.of(path("a")))
    #expect(symlink("a", path("link")) == 0)
    #expect(symlink("link", path("far")) == 0)
    #expect(FileMark.of(path("far")) == first)
    folder.write("b", "two")
    #expect(rename(path("b"), path("a")) == 0)
    let second = FileMark.of(path("far"))
    #expect(second != nil && second != first)
    // As systemd and Kubernetes do: another link is renamed over the first one on the way.
    folder.write("c", "two")
    #expect(symlink("c", path("other")) == 0)
    #expect(rename(path("other"), path("link")) == 0)
    let third = FileMark.of(path("far"))
    #expect(third != nil && third != second)
    folder.write("c", "more")
    #expect(FileMark.of(path("far")) != third)
  }
}
