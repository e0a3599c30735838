// A Vulkan driver that ends the process as soon as a loader asks it anything.
#include <stdlib.h>

int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned * version) {
    (void) version;
    abort();
}

void * vk_icdGetInstanceProcAddr(void * instance, const char * name) {
    (void) instance;
    (void) name;
    abort();
}
