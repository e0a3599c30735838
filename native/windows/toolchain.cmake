# Windows x64 from Linux: clang with the headers and libraries of Debian's mingw-w64 (posix threads), lld as its linker.
# Clang and not mingw-w64's GCC: on Win64 the stack is aligned to 16 bytes, and GCC may spill AVX registers to it as if it were
# aligned to 32 or 64 (GCC bug 54412), which crashes; that of Debian 12 did not in two kernels looked at. Clang aligns the frame of such
# a function first. test/windows/stack.mjs looks for it in what was built.
# native/prepare/build.mjs --windows passes it to CMake.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_SYSTEM_VERSION 10.0)

set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET x86_64-w64-windows-gnu)
set(CMAKE_CXX_COMPILER_TARGET x86_64-w64-windows-gnu)
# of mingw-w64's binutils: those of the machine write no index for objects of Windows
set(CMAKE_AR x86_64-w64-mingw32-ar CACHE FILEPATH "")
set(CMAKE_RANLIB x86_64-w64-mingw32-ranlib CACHE FILEPATH "")
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

# Windows 10 and later. Emulated TLS: std::call_once shares thread-local variables with GCC's libstdc++, which has them so.
set(flags "-D_WIN32_WINNT=0x0A00 -DNOMINMAX -femulated-tls -include ${CMAKE_CURRENT_LIST_DIR}/compat.h")
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT "${flags}")

# no DLL of ours or the compiler's beside the product
foreach(kind EXE MODULE SHARED)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-static -fuse-ld=lld")
endforeach()
