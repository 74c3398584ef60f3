import CLinux
import PawlStoreTestKit
import Testing

@testable import PawlDisk

@Suite("Blocking file calls") struct FilesTests {
  @Test("directories are made with those above them, for their owner alone")
  func directories() throws {
    let folder = TestDirectory()
    let path = folder.path + "/a/b/c"
    try Files.makeDirectories(path)
    try Files.makeDirectories(path)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(try Files.names(in: folder.path + "/a") == ["b"])
    try Files.syncDirectory(path)
    #expect(throws: StoreError.system(call: "open", path: path + "/d", errno: ENOENT)) {
      try Files.syncDirectory(path + "/d")
    }
  }

  @Test("what is written is read again; a file that ends early gives what it has")
  func readAndWrite() throws {
    let folder = TestDirectory()
    let path = folder.path + "/f"
    let descriptor = try Files.open(path, O_RDWR | O_CREAT)
    defer { close(descriptor) }
    let bytes = pattern(100_000)
    var failure: StoreError?
    bytes.withUnsafeBytes { buffer in
      do throws(StoreError) { try Files.writeAll(descriptor, buffer, at: 7) } catch { failure = error }
    }
    #expect(failure == nil)
    #expect(try Files.size(descriptor, path) == 100_007)
    var read = [UInt8](repeating: 0, count: 200_000)
    var count = 0
    read.withUnsafeMutableBytes { buffer in
      do throws(StoreError) { count = try Files.read(descriptor, buffer, at: 7) } catch { failure = error }
    }
    #expect(count == 100_000 && Array(read.prefix(count)) == bytes && failure == nil)
    try Files.unlink(path)
    try Files.unlink(path)
    #expect(!Files.exists(path))
  }

  @Test("a directory has no size, and a missing file is the kernel's error")
  func errors() throws {
    let folder = TestDirectory()
    let descriptor = try Files.open(folder.path, O_RDONLY)
    defer { close(descriptor) }
    #expect(throws: StoreError.system(call: "open", path: folder.path, errno: EINVAL)) {
      _ = try Files.size(descriptor, folder.path)
    }
    let missing = folder.path + "/missing"
    #expect(throws: StoreError.system(call: "open", path: missing, errno: ENOENT)) {
      _ = try Files.open(missing, O_RDONLY)
    }
    #expect(throws: StoreError.system(call: "opendir", path: missing, errno: ENOENT)) {
      _ = try Files.names(in: missing)
    }
    #expect(try Files.space(of: folder.path).total > 0)
  }

  @Test("no room, whatever the reason, is one error", arguments: [ENOSPC, EDQUOT, EFBIG])
  func full(_ code: CInt) {
    pawl_set_errno(code)
    #expect(Files.failure("pwrite", "f") == .full)
  }
}
