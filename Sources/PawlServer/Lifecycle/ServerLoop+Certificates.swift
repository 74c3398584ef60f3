import PawlLoop

extension ServerLoop {
  /// Looks at the files of all certificates again and again, off the loop; one look at a time, however long it takes.
  func watchCertificates() {
    let timer = certificateTimer ?? loop.makeTimer { [unowned self] in lookAtCertificates() }
    certificateTimer = timer
    timer.schedule(after: Certificates.interval)
  }

  private func lookAtCertificates() {
    let certificates = server.certificates
    pool.run({ certificates.look() }, then: loop) { [unowned self] in
      guard !isDraining else { return }
      watchCertificates()
    }
  }
}
