import CLinux

/// The reason why the system refused something to a loop, such as an address, a descriptor or a thread.
package enum LoopError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another socket uses the address.
  case addressInUse(SocketAddress)
  /// The address does not belong to this machine.
  case addressNotAvailable(SocketAddress)
  /// The process may not use this port (below 1024), or may not write to the folder of the unix socket.
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

/// The system's text for an `errno`, in English with any locale.
package func errorText(_ code: CInt) -> String {
  guard let text = strerrordesc_np(code) else { return "error \(code)" }
  return String(cString: text)
}
