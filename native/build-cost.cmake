# What the first start waits for is the compiler: most of its time went into C++ that runs once per request or once per load
# (options, JSON, chat templates, HTTP, headers of models) or once per batch and layer (graphs of models). That code is compiled with
# fewer passes and in batches that read their headers once. What runs for every token, cell or value keeps -O3: ggml, the cache and
# the inputs of a graph, sampling, vocabularies, drafts, images and sound.
# GCC and Clang only: another compiler builds as upstream says.

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" OR MSVC)
    return()
endif()

# The sources of a target whose path below it matches the pattern; in full, as other folders must name them.
function(concertina_sources result target pattern)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "${pattern}")
    list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# What runs per token or cell, or per pixel and sample.
set(hot_llama "^(llama-(sampler|vocab|grammar|kv-cache[a-z0-9-]*|memory[a-z-]*|batch|graph|context|io|mmap)|unicode[a-z-]*)\\.cpp$|/turbo/llama/")
set(hot_llama-common "^(sampling|speculative|ngram-[a-z]+|peg-parser)\\.cpp$")
set(hot_mtmd "^mtmd-(audio|image)\\.cpp$")

# What goes into batches: files whose names do not collide. Where they do after a move of the pin, the compiler says which: they
# go from the list.
set(batched_llama-common "^(parsers/.+|arg|chat[a-z-]*|preset|download|hf-cache|json-schema[a-z-]*|imatrix-loader|fit|debug)\\.cpp$")
set(batched_mtmd "^models/.+\\.cpp$")
set(batched_server-context "\\.cpp$")

foreach(target llama llama-common mtmd server-context cpp-httplib)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(hot_${target})
        concertina_sources(hot ${target} "${hot_${target}}")
        set_source_files_properties(${hot} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
    endif()
    if(batched_${target})
        concertina_sources(batched ${target} "${batched_${target}}")
        concertina_sources(alone ${target} "\\.cpp$")
        list(REMOVE_ITEM alone ${batched})
        set_source_files_properties(${alone} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    endif()
endforeach()
