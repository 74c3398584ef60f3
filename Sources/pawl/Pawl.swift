@main struct Pawl { static func main() {} }
