// Opens the Vulkan loader when it is asked for, so that the addon starts on machines that have none. ggml-vulkan calls these four by
// name; all others it gets through them. Without a loader the version of an instance cannot be told, and upstream leaves its backend
// out, as it does where the version is too low; but of that it says "Error: Vulkan 1.2 required".
#include <vulkan/vulkan.h>

#include <cstdio>
#ifdef _WIN32
#include <windows.h>
#define LIBRARY "vulkan-1.dll"
#else
#include <dlfcn.h>
#define LIBRARY "libvulkan.so.1"
#endif

namespace {

PFN_vkGetInstanceProcAddr open_loader() {
#ifdef _WIN32
    HMODULE lib = LoadLibraryExA(LIBRARY, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return lib ? (PFN_vkGetInstanceProcAddr) (void *) GetProcAddress(lib, "vkGetInstanceProcAddr") : nullptr;
#else
    void * lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return lib ? (PFN_vkGetInstanceProcAddr) dlsym(lib, "vkGetInstanceProcAddr") : nullptr;
#endif
}

PFN_vkGetInstanceProcAddr loader() {
    static const PFN_vkGetInstanceProcAddr opened = [] {
        const PFN_vkGetInstanceProcAddr found = open_loader();
        if (!found) fputs("There is no Vulkan library (" LIBRARY ") here: no GPU is used through Vulkan.\n", stderr);
        return found;
    }();
    return opened;
}

VkInstance last_instance = VK_NULL_HANDLE;

VKAPI_ATTR VkResult VKAPI_CALL no_version(uint32_t *) { return VK_ERROR_INCOMPATIBLE_DRIVER; }

} // namespace

extern "C" {

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char * name) {
    if (!loader()) {
        return name[2] == 'E' && !__builtin_strcmp(name, "vkEnumerateInstanceVersion") ? (PFN_vkVoidFunction) no_version
                                                                                       : nullptr;
    }
    if (instance) { last_instance = instance; }
    return loader()(instance, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char * name) {
    return ((PFN_vkGetDeviceProcAddr) loader()(last_instance, "vkGetDeviceProcAddr"))(device, name);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFeatures2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 * features) {
    ((PFN_vkGetPhysicalDeviceFeatures2) loader()(last_instance, "vkGetPhysicalDeviceFeatures2"))(device, features);
}

VKAPI_ATTR void VKAPI_CALL vkCmdCopyBuffer(
    VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t n, const VkBufferCopy * regions) {
    ((PFN_vkCmdCopyBuffer) loader()(last_instance, "vkCmdCopyBuffer"))(commands, from, to, n, regions);
}
}
