/// Why the server could not start.
package enum ServerError: Error, CustomStringConvertible {
  case address(String, String)
  case storage(String, String)
  /// The reason, and the file that it is in, if it is in one.
  case certificates(String, file: String?)
  case log(String)
  /// The `user` or `group` that pawl is to become.
  case account(String)
  case system(String)

  package var description: String {
    switch self {
    case .address(let address, let why): "cannot listen on \(address): \(why)"
    case .storage(let path, let why): "cannot use \(path): \(why)"
    case .certificates(let why, _): "cannot speak TLS: \(why)"
    case .log(let why): why
    case .account(let why): "[pawl] user, group: \(why)"
    case .system(let why): why
    }
  }
}
