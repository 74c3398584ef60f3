import CLinux
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlCertificates

@Suite("When certificates are read again") struct CertificateWatchTests {
  private func at(_ seconds: Double) -> Monotonic {
    Monotonic(nanoseconds: 1_000_000_000_000).advanced(by: .milliseconds(Int64(seconds * 1000)))
  }

  @Test("files that stay as they are are left alone; any that changes, goes or comes is a reason")
  func changes() {
    var watch = CertificateWatch<Int>([1, 2])
    let r1 = watch.looked([1, 2], at: at(0))
    #expect(!r1)
    let r2 = watch.looked([1, 3], at: at(1))
    #expect(r2)
    watch.loaded([1, 3])
    let r3 = watch.looked([1, 3], at: at(2))
    #expect(!r3)
    let r4 = watch.looked([1, nil], at: at(3))
    #expect(r4)
    let r5 = watch.looked([1, 2], at: at(3))
    #expect(r5)
  }

  @Test("what does not fit together is said when it has been left alone for three seconds, once")
  func halfReplaced() {
    var watch = CertificateWatch<Int>([1, 1])
    // The certificate is there, its key is not.
    let r6 = watch.looked([2, 1], at: at(1))
    #expect(r6)
    let r7 = watch.couldNotLoad([2, 1], at: at(1))
    #expect(!r7)
    let r8 = watch.looked([2, 1], at: at(2))
    #expect(!r8)
    // Now it is.
    let r9 = watch.looked([2, 2], at: at(3))
    #expect(r9)
    watch.loaded([2, 2])
    let r10 = watch.looked([2, 2], at: at(4))
    #expect(!r10)
    // Another one is broken, and stays so.
    let r11 = watch.looked([3, 2], at: at(5))
    #expect(r11)
    let r12 = watch.couldNotLoad([3, 2], at: at(5))
    #expect(!r12)
    let r13 = watch.looked([3, 2], at: at(7.9))
    #expect(!r13)
    let r14 = watch.looked([3, 2], at: at(8))
    #expect(r14)
    let r15 = watch.couldNotLoad([3, 2], at: at(8))
    #expect(r15)
    let r16 = watch.looked([3, 2], at: at(9))
    #expect(!r16)
    let r17 = watch.looked([3, 2], at: at(90))
    #expect(!r17)
    let r18 = watch.looked([4, 2], at: at(91))
    #expect(r18)
  }

  @Test("what goes on changing is tried each time, and not said")
  func restless() {
    var watch = CertificateWatch<Int>([0])
    for second in 1...20 {
      let r19 = watch.looked([second], at: at(Double(second)))
      #expect(r19)
      let r20 = watch.couldNotLoad([second], at: at(Double(second)))
      #expect(!r20)
    }
    // Back to what it was: nothing has happened.
    let r21 = watch.looked([0], at: at(21))
    #expect(!r21)
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
