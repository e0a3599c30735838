// The addon's way to the slots of upstream's server_context (tools/server/server-context.cpp), which keeps them private.
// Included by server-context.cpp (patch server-slots) and by the addon; the bodies are in server-slots.inl.
#pragma once

#include "llama.h"

#include <functional>
#include <vector>

struct server_context;
struct server_context_impl;
struct server_slot;

struct server_slots_access {
    // Runs `body` on the thread of the server's loop, between two batches, and waits for it. What `body` throws is thrown
    // here. start_loop() must run, on another thread.
    static void call(server_context & server, const std::function<void()> & body);

    // Inside `body` only. The tokens whose cells the slot holds, in the order of their positions; text alone.
    static std::vector<llama_token> tokens(const server_context & server, int id_slot);
    // Inside `body` only. After the cells of the slot's sequence were written, as by llama_state_seq_load_file, or removed.
    static void set_tokens(server_context & server, int id_slot, const std::vector<llama_token> & tokens);

    // llama_decode() returned 2: its abort callback said so. The tasks in the batch end with an error, their slots keep the
    // tokens that were evaluated before. Returns true: the batch is done.
    static bool abort(server_context_impl & server);

    // Whether the grammar of the slot's task allows the token that was just sampled; accepting another one would end the process.
    // If not, the task has ended with an error.
    static bool allowed(server_context_impl & server, server_slot & slot);
};
