# Conan's libraries as the system has them, where Conan's own registry is out of reach:
#
#     conan create packaging/conan --profile default --profile packaging/conan/system.profile
#
# The shared library, since Conan is not told what a static one would have to be linked with.
[platform_requires]
boost/1.81.0
hiredis/0.14.1
openssl/3.0.0

[options]
holdfast/*:shared=True
