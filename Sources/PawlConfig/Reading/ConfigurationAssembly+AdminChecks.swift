/// The checks of `[admin]` that need other keys or sections: who may ask over TCP, and how.
extension ConfigurationAssembly {
  mutating func checkAdmin() {
    guard let admin else { return }
    checkAdminTLS(admin)
    checkAdminClients(admin)
    let isUnix = admin.model.listen.contains { $0.isUnix }
    if admin.origins["mode"] != nil, !isUnix, !admin.refused.contains("listen") {
      report(admin, "mode", severity: .warning, "has no effect without a unix socket in listen")
    }
  }

  private mutating func checkAdminTLS(_ admin: ReadSection<AdminSettings>) {
    guard let name = admin.model.tls else { return }
    let names = tls.map(\.model.name)
    if !names.contains(name) {
      let near = nearestMatch(name, among: names + ["none"])
      report(admin, "tls", "there is no [tls:\(name)]", suggestion: near)
    } else if !admin.model.listen.contains(where: { !$0.isUnix }), !admin.refused.contains("listen") {
      report(admin, "tls", severity: .warning, "has no effect without a TCP address in listen")
    }
  }

  /// Reports TCP addresses that would let anyone in, and tokens that anyone on the network could read.
  private mutating func checkAdminClients(_ admin: ReadSection<AdminSettings>) {
    guard !admin.refused.contains("listen"), !admin.refused.contains("token"), !admin.refused.contains("tls") else {
      return
    }
    let section = tls.first { $0.model.name == admin.model.tls }
    let needsCertificate = section?.model.clientCertificate == .required
    for (index, address) in admin.model.listen.enumerated() where !address.isUnix {
      if admin.model.token == nil, !needsCertificate {
        report(
          admin, "listen", element: index,
          "\(address) needs token, or tls with client-certificate = required: else anyone could stop pawl")
      } else if admin.model.tls == nil, !address.isLoopback {
        report(
          admin, "listen", element: index, severity: .warning,
          "the token crosses the network to \(address) in clear: tls encrypts it")
      }
    }
  }
}
