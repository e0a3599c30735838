// A DLL of Windows that Wine 8 (Debian 12) lacks and programs in Rust ask for their random numbers: rolldown, which vitest loads.
// clang --target=x86_64-w64-windows-gnu -shared; test/windows/wine.mjs puts it into the Wine prefix of the tests.
typedef int BOOL;

__declspec(dllimport) unsigned char __stdcall SystemFunction036(
    void * bytes, unsigned long count); // RtlGenRandom of advapi32

__declspec(dllexport) BOOL __stdcall ProcessPrng(unsigned char * bytes, unsigned long long count) {
    const unsigned long most = 1u << 20;
    while (count > 0) {
        const unsigned long step = count < most ? (unsigned long) count : most;
        if (!SystemFunction036(bytes, step)) return 0;
        bytes += step;
        count -= step;
    }
    return 1;
}
