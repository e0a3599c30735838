# Our type ids are written into session files. This stops the configuration when the pin's enum uses one.

cmake_policy(SET CMP0057 NEW) # also as a script, which npm run bump makes of it
set(CONCERTINA_TYPE_IDS 4 5 31 32 33 36 37 38) # as in ggml-turbo.h

file(STRINGS "${CONCERTINA_UPSTREAM}/ggml/include/ggml.h" type_lines REGEX "^ +GGML_TYPE_[A-Z0-9_]+ *= *[0-9]+ *,")
list(LENGTH type_lines type_count)
if(type_count LESS 30)
    message(FATAL_ERROR "found ${type_count} ggml types in the pin's ggml.h: its enum looks different now, correct native/turbo/ids.cmake")
endif()
foreach(line IN LISTS type_lines)
    string(REGEX MATCH "(GGML_TYPE_[A-Z0-9_]+) *= *([0-9]+)" match "${line}")
    if(CMAKE_MATCH_2 IN_LIST CONCERTINA_TYPE_IDS)
        message(FATAL_ERROR "the pin uses id ${CMAKE_MATCH_2} for ${CMAKE_MATCH_1}, which is the id of a turbo type in "
            "every saved session: choose another slot in native/turbo/ggml-turbo.h and ids.cmake, and convert old sessions")
    endif()
endforeach()
