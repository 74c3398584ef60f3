import PawlLoop

extension ServerLoop {
  /// Looks at the files of all certificates again and again, off the loop; one look at a time, however long it takes.
  func watchCertificates() {
    let timer = certificateTimer ?? loop.makeTimer { [weak self] in self?.lookAtCertificates() }
    certificateTimer = timer
    timer.schedule(after: Certificates.interval)
  }

  private func lookAtCertificates() {
    let certificates = server.certificates
    pool.run({ certificates.look() }, then: loop) { [weak self] in
      guard let self, !isDraining else { return }
      watchCertificates()
    }
  }
}
