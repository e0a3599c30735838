// What attention of one token runs on, for people.
#pragma once

#include <string>

struct turbo_gpu_kernel {
    std::string name, why;
};
