// Opens the Vulkan loader when it is asked for, so that the addon starts on machines that have none. ggml-vulkan calls these four by
// name; all others it gets through them. Without a loader an instance of version 1.0 is reported, which upstream refuses
// ("1.2 required") by leaving its backend out.
#include <vulkan/vulkan.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace {

PFN_vkGetInstanceProcAddr open_loader() {
#ifdef _WIN32
    HMODULE lib = LoadLibraryExA("vulkan-1.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return lib ? (PFN_vkGetInstanceProcAddr) (void *) GetProcAddress(lib, "vkGetInstanceProcAddr") : nullptr;
#else
    void * lib = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    return lib ? (PFN_vkGetInstanceProcAddr) dlsym(lib, "vkGetInstanceProcAddr") : nullptr;
#endif
}

PFN_vkGetInstanceProcAddr loader() {
    static const PFN_vkGetInstanceProcAddr opened = open_loader();
    return opened;
}

VkInstance last_instance = VK_NULL_HANDLE;

VKAPI_ATTR VkResult VKAPI_CALL no_version(uint32_t * version) {
    *version = VK_API_VERSION_1_0;
    return VK_SUCCESS;
}

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
