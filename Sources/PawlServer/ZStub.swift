import PawlConfig
import PawlHTTP
import PawlUpload
extension UploadRoute { var cors: CORSPolicy { 
    switch settings.cors {
    case .off: CORSPolicy(.off)
    case .any: CORSPolicy(.any)
    case .origins(let origins): CORSPolicy(.origins(origins.map { Array($0.utf8) }))
    }
 } }
