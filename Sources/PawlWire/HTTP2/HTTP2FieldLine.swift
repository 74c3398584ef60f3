package import CNGHTTP2
import PawlHTTP

extension nghttp2_nv {
  /// A field line in the form of nghttp2; the name has to be in lower case.
  ///
  /// Safe: nghttp2 does not write through these pointers. It copies the bytes during the call, except bytes that the flags
  /// exempt.
  package init(
    _ name: Slice<UnsafeBufferPointer<UInt8>>, _ value: Slice<UnsafeBufferPointer<UInt8>>, flags: UInt8 = 0
  ) {
    let (name, value) = (UnsafeBufferPointer(rebasing: name), UnsafeBufferPointer(rebasing: value))
    self.init(
      name: UnsafeMutablePointer(mutating: name.baseAddress), value: UnsafeMutablePointer(mutating: value.baseAddress),
      namelen: name.count, valuelen: value.count, flags: flags)
  }

  package init(_ name: StaticString, _ value: Slice<UnsafeBufferPointer<UInt8>>, flags: UInt8 = 0) {
    self.init(name.bytes[...], value, flags: flags)
  }
}
