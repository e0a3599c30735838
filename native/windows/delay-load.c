// The addon imports Node-API from "node.exe", whatever the program is called that loads it: electron.exe, concertina.exe,
// a renamed node.exe. This hook of the delay-load helper answers with the program itself, as node-gyp's does.
#include <windows.h>

#include <delayimp.h>
#include <string.h>

static FARPROC WINAPI answer(unsigned event, PDelayLoadInfo info) {
    if (event != dliNotePreLoadLibrary || _stricmp(info->szDll, "node.exe") != 0) return NULL;
    return (FARPROC) (void *) GetModuleHandleW(NULL);
}

PfnDliHook __pfnDliNotifyHook2 = answer;
