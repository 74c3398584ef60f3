import CLinux
import PawlLoop
import PawlTestKit
import PawlUpload
import PawlUploadStore
import Testing

@testable import PawlServer

@Suite("An upload's bytes before they go") struct DeliveryCheckTests {
  private let pool = WorkerPool(threads: 1)

  private func check(_ text: String, _ claims: [DigestClaim] = [], count: UInt64? = nil) throws -> DeliveryCheck {
    let folder = try TemporaryFolder()
    let file = try #require(TemporaryFile(in: folder.path, pool: pool))
    let isWritten = Array(text.utf8).withUnsafeBytes { file.write($0, at: 0) }
    #expect(isWritten)
    return DeliveryCheck.make(
      UploadBody(fd: file.descriptor, count: count ?? UInt64(text.utf8.count), keeper: file), claims)
  }

  private func hex(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
  }

  @Test("the last byte of what is in memory is read at once; of what ends early it is not")
  func atOnce() throws {
    let folder = try TemporaryFolder()
    let file = try #require(TemporaryFile(in: folder.path, pool: pool))
    let isWritten = Array("abc".utf8).withUnsafeBytes { file.write($0, at: 0) }
    #expect(isWritten)
    func check(_ count: UInt64) -> DeliveryCheck? {
      DeliveryCheck.makeAtOnce(UploadBody(fd: file.descriptor, count: count, keeper: file))
    }
    guard case .good(last: 0x63?)? = check(3) else { return #expect(Bool(false)) }
    guard case .good(last: nil)? = check(0) else { return #expect(Bool(false)) }
    #expect(check(4) == nil)
  }

  @Test("the last byte is read")
  func last() throws {
    guard case .good(last: 0x63?) = try check("abc") else { return #expect(Bool(false)) }
    guard case .good(last: nil) = try check("") else { return #expect(Bool(false)) }
  }

  @Test(
    "each digest that is known is held to",
    arguments: [
      (DigestAlgorithm.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        .sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
      (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"), (.md5, "900150983cd24fb0d6963f7d28e17f72"),
    ])
  func digests(_ algorithm: DigestAlgorithm, _ value: String) throws {
    let claim = DigestClaim(algorithm, hex(value))
    guard case .good = try check("abc", [claim]) else { return #expect(Bool(false)) }
    guard case .mismatch(algorithm) = try check("abd", [claim]) else { return #expect(Bool(false)) }
    guard case .mismatch(algorithm) = try check("abc", [claim, DigestClaim(algorithm, [])]) else {
      return #expect(Bool(false))
    }
  }

  @Test("a file that is too short is unreadable")
  func short() throws {
    guard case .unreadable = try check("abc", count: 4) else { return #expect(Bool(false)) }
    guard case .unreadable = try check("abc", [DigestClaim(.md5, [])], count: 4) else { return #expect(Bool(false)) }
  }
}
