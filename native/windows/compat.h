// Where mingw-w64 10 (Debian 12), Windows 10's SDK and clang 19 disagree. toolchain.cmake includes it before every source.
#pragma once
#ifndef RC_INVOKED

#include <_mingw.h>

// clang's cpuid.h has it, and mingw-w64 looks only whether GCC's would
#define __INTRINSIC_DEFINED___cpuidex

// of the SDK. Without windows.h, which would bring its macros into every source
#if __MINGW64_VERSION_MAJOR < 11
#define THREAD_POWER_THROTTLING_CURRENT_VERSION 1
#define THREAD_POWER_THROTTLING_EXECUTION_SPEED 0x1
typedef struct {
    unsigned long Version;
    unsigned long ControlMask;
    unsigned long StateMask;
} THREAD_POWER_THROTTLING_STATE;
#endif

#endif
