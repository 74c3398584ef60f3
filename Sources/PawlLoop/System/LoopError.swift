import CLinux

/// Why something that a loop needs from the system could not be had.
package enum LoopError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another socket has the address.
  case addressInUse(SocketAddress)
  /// The address is none of this machine's.
  case addressNotAvailable(SocketAddress)
  /// A port below 1024 without the right to it, or a folder that may not be written.
  case notPermitted(SocketAddress)
  /// A system call failed with this `errno`.
  case system(call: String, code: CInt)

  package var description: String {
    switch self {
    case .addressInUse(let address): "\(address) is already in use"
    case .addressNotAvailable(let address): "\(address) is not an address of this machine"
    case .notPermitted(let address): "not permitted to listen on \(address)"
    case .system(let call, let code): "\(call): \(errorText(code))"
    }
  }
}

/// The system's words for an `errno`, in English whatever the locale.
package func errorText(_ code: CInt) -> String {
  guard let text = strerrordesc_np(code) else { return "error \(code)" }
  return String(cString: text)
}
