import PawlHTTP
import PawlUpload
extension UploadRoute { var cors: CORSPolicy { CORSPolicy(.off) } }
