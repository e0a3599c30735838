// The source of our kernels inside the program, as upstream's CMake embeds its own: TURBO_METAL_SOURCE is the text that
// native/prepare/metal-source.mjs made of kernels/turbo.metal. Found by the names that X(TURBO, turbo) makes.

__asm__(".section __DATA,__ggml_metallib\n"
        ".globl _ggml_metallib_turbo_start\n"
        "_ggml_metallib_turbo_start:\n"
        ".incbin \"" TURBO_METAL_SOURCE "\"\n"
        ".globl _ggml_metallib_turbo_end\n"
        ".alt_entry _ggml_metallib_turbo_end\n" // of the same piece, which the linker then does not part
        "_ggml_metallib_turbo_end:\n"
        ".byte 0\n"
        ".text\n");
